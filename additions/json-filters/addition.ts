import type { Addition } from '../addition.ts'
import { keys } from './decode.ts'

/** Filters of JSON (spec/graphql.md 17.1). */
export const jsonFilters = { name: 'jsonFilters', keys, switches: ['jsonFilters'] } satisfies Addition
