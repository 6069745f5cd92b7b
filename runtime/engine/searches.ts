import { formOf } from '../contract/facts.ts'
import type { ColumnFacts, EntityFacts } from '../contract/manifest.ts'
import type { SearchedForm } from '../sql/search-form.ts'
import { orderRelations } from './related.ts'
import type { RoleVisibility } from './view.ts'
import { byField } from './visible.ts'

/** Columns with text search (`search`, spec/graphql.md 17.1), and their additional fields. */

/** Undefined for other columns. */
export function searchedForm({ type }: ColumnFacts): SearchedForm | undefined {
  const form = formOf(type)
  if (form === 'vector') return form
  return form === 'searchedText' || form === 'searchedAndComparedText' ? 'searchedText' : undefined
}

const searchColumns = (columns: readonly ColumnFacts[], ending: string): readonly (readonly [string, ColumnFacts])[] =>
  columns.map((column) => [`${column.field ?? ''}${ending}`, column])

/** Orders by rank, by field; other sort keys keep their names. */
export function rankFields(visible: RoleVisibility, entity: EntityFacts): ReadonlyMap<string, ColumnFacts> {
  const columns = [...byField(visible.filterable(entity)).values()].filter((one) => searchedForm(one) !== undefined)
  if (columns.length === 0) return new Map()
  const taken = new Set([...byField(visible.orderable(entity)).keys(), ...orderRelations(visible, entity).keys()])
  return new Map(searchColumns(columns, 'Rank').filter(([name]) => !taken.has(name)))
}

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
