import { createApart } from '../../runtime/graphql/apart/apart.ts'
import { createThread as createCoreThread, type Thread, type ThreadLimits } from '../../runtime/graphql/apart/thread.ts'
import {
  createService as createCoreService,
  type GraphqlService,
  type ServiceParts,
} from '../../runtime/graphql/serve.ts'
import { builtModule } from '../../runtime/lib/built-module.ts'
import { additionsOfEngines } from './engine.ts'
import { additions } from './table.ts'

/** Reads documents with their schema. */
export const createThread = (limits?: ThreadLimits): Thread =>
  createCoreThread(builtModule(import.meta.url, 'compiler/additions/reading-thread.js'), limits)

/** The GraphQL service with the additions. */
export const createService = ({ apart = createApart(createThread()), ...parts }: ServiceParts): GraphqlService =>
  createCoreService({ ...parts, apart, engineAdditions: additionsOfEngines }, additions)
