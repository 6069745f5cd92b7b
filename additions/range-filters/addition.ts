import type { Addition } from '../addition.ts'
import { keys } from './decode.ts'

/** Filters of ranges and multiranges (spec/graphql.md 17.1). */
export const rangeFilters = { name: 'rangeFilters', keys, switches: ['rangeFilters'] } satisfies Addition
