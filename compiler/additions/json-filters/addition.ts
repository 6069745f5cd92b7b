import { tableAddition } from '../addition.ts'
import { jsonForm } from './facts.ts'

/** Conditions on JSON values and their parts (spec/graphql.md 17.1). */
export const jsonFilters = tableAddition('jsonFilters', 'gives its json and jsonb columns a filter', {
  forms: [jsonForm],
})
