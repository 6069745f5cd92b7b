import type { Addition } from '../addition.ts'
import { keys } from './decode.ts'

/** Filters of lists by their elements (spec/graphql.md 17.1). */
export const arrayFilters = { name: 'arrayFilters', keys, switches: ['arrayFilters'] } satisfies Addition
