import type { Addition } from '../addition.ts'
import { keys } from './decode.ts'
import { extension } from './statements.ts'

/** What is in the API of a role and why not, under `extensions.schemaReport` (spec/graphql.md 17). */
export const schemaReport = { name: 'schemaReport', keys, reports: 'asked', extension } satisfies Addition
