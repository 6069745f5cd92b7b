import type { Addition } from '../addition.ts'
import { keys } from './decode.ts'
import { manifestFacts } from './facts.ts'

/** The documents that may run (spec/graphql.md 17). */
export const allowlist = { name: 'allowlist', keys, manifestFacts } satisfies Addition
