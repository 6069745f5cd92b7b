import type { Addition } from '../addition.ts'
import { keys } from './decode.ts'

/** Filters by related rows (spec/graphql.md 17). */
export const relationFilters = { name: 'relationFilters', keys, switches: ['relationFilters'] } satisfies Addition
