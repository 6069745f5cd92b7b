import { formOf } from '../contract/facts.ts'
import type { ColumnFacts, EntityFacts } from '../contract/manifest.ts'
import type { SearchedForm } from '../sql/search-form.ts'
import type { RoleVisibility } from './view.ts'

/** Columns with text search (`search`, spec/graphql.md 17.1), and their additional fields. */

/** Undefined for other columns. */
export function searchedForm({ type }: ColumnFacts): SearchedForm | undefined {
  const form = formOf(type)
  if (form === 'vector') return form
  return form === 'searchedText' || form === 'searchedAndComparedText' ? 'searchedText' : undefined
}

export const searchColumns = (
  columns: readonly ColumnFacts[],
  ending: string,
): readonly (readonly [string, ColumnFacts])[] => columns.map((column) => [`${column.field ?? ''}${ending}`, column])

/** Excerpts of texts, by field; other fields keep their names. */
export const headlineFields = (
  visible: RoleVisibility,
  entity: EntityFacts,
  taken: ReadonlySet<string>,
): ReadonlyMap<string, ColumnFacts> => {
  const columns = entity.columns.filter(
    (column) => searchedForm(column) === 'searchedText' && visible.seesColumn(entity, column),
  )
  return new Map(searchColumns(columns, 'Headline').filter(([name]) => !taken.has(name)))
}
