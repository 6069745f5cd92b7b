import { tableAddition } from '../addition.ts'
import { rangeForms } from './facts.ts'

/** Conditions on ranges and multiranges (spec/graphql.md 17.1). */
export const rangeFilters = tableAddition('rangeFilters', 'filters its ranges and multiranges by what they contain', {
  forms: rangeForms,
})
