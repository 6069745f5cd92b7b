import { tableAddition } from '../addition.ts'
import { ltreeForm } from './facts.ts'

/** Conditions on paths of labels (spec/graphql.md 17.1). */
export const ltreeFilters = tableAddition(
  'ltreeFilters',
  'filters its ltree columns by what they lie below and match',
  { forms: [ltreeForm] },
)
