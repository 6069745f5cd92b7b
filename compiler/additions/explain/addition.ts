import type { Addition } from '../addition.ts'
import { keys } from './decode.ts'
import { manifestFacts } from './facts.ts'
import { extension } from './statements.ts'

/** Statements and plans of a request, under `extensions.explain` (spec/graphql.md 17). */
export const explain = { name: 'explain', keys, manifestFacts, extension } satisfies Addition
