import { createService as createCoreService, type GraphqlService, type ServiceParts } from '../runtime/graphql/serve.ts'
import { additions } from './table.ts'

/** What answers GraphQL, with the additions. */
export const createService = (parts: ServiceParts): GraphqlService => createCoreService(parts, additions)
