import type { Addition } from '../addition.ts'
import { keys } from './decode.ts'

/** Comparisons of texts without case and by trigrams (spec/graphql.md 17.1). */
export const textFilters = { name: 'textFilters', keys, switches: ['textFilters'] } satisfies Addition
