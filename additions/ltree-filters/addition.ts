import type { Addition } from '../addition.ts'
import { keys } from './decode.ts'

/** Filters of paths of labels (spec/graphql.md 17.1). */
export const ltreeFilters = { name: 'ltreeFilters', keys, switches: ['ltreeFilters'] } satisfies Addition
