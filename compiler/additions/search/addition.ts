import { tableAddition } from '../addition.ts'
import { searchForms } from './facts.ts'

/** Full text search (spec/graphql.md 17.1). */
export const search = tableAddition('search', 'searches its texts and tsvector columns by words', {
  forms: searchForms,
})
