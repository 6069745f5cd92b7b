import { collated, familyOf } from '../../model/columns.ts'
import { tableAddition } from '../addition.ts'
import { parts } from './facts.ts'

/**
 * Comparisons of columns with each other (spec/graphql.md 17.1): with those of their type or family. Two collations order the
 * same texts differently, so that Postgres refuses to compare them.
 */
export const columnFilters = tableAddition('columnFilters', 'compares columns of a row with each other in filters', {
  parts,
  columnFacts: (type, { collation }, { filter, order }) =>
    type && filter && order ? { comparison: collated(familyOf(type), collation) } : {},
})
