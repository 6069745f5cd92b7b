import { tableAddition } from '../addition.ts'
import { textForms } from './facts.ts'

/** Comparisons of texts without case, and by trigrams (spec/graphql.md 17.1). */
export const textFilters = tableAddition(
  'textFilters',
  'compares its texts without case and, with pg_trgm, by trigrams',
  { forms: textForms },
)
