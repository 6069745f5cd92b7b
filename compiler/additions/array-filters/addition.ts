import { tableAddition } from '../addition.ts'
import { arrayForm } from './facts.ts'

/** Conditions on elements of arrays (spec/graphql.md 17.1). */
export const arrayFilters = tableAddition('arrayFilters', 'filters its arrays by their elements', {
  forms: [arrayForm],
})
