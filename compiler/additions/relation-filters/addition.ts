import { tableAddition } from '../addition.ts'
import { parts } from './facts.ts'

/** Conditions on related rows (spec/graphql.md 17). */
export const relationFilters = tableAddition('relationFilters', 'lets its filter ask for related rows', { parts })
