import type { Addition } from '../addition.ts'
import { keys } from './decode.ts'

/** Comparisons of columns with each other (spec/graphql.md 17.1). */
export const columnFilters = { name: 'columnFilters', keys, switches: ['columnFilters'] } satisfies Addition
