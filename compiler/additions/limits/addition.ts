import type { Addition } from '../addition.ts'
import { keys } from './decode.ts'
import { manifestFacts } from './facts.ts'

/** The most that one document may select and cost (spec/graphql.md 17). */
export const limits = { name: 'limits', keys, manifestFacts } satisfies Addition
