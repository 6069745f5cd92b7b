import type { Addition } from '../addition.ts'
import { keys } from './decode.ts'

/** Filters of addresses and networks (spec/graphql.md 17.1). */
export const networkFilters = { name: 'networkFilters', keys, switches: ['networkFilters'] } satisfies Addition
