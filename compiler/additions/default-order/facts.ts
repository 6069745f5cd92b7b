import type { ColumnFacts, EntityFacts } from '../../../runtime/contract/manifest.ts'
import { nameRelation } from '../../catalog/catalog.ts'
import { diagnose, withDiagnostics, type WithDiagnostics } from '../../catalog/diagnostics/diagnostics.ts'
import type { NamedRelation } from '../../model/named-relations.ts'

/** The default order in a relation's comment (spec/graphql.md 17.5), as far as its columns are sortable. */
export function relationFacts(
  { relation }: NamedRelation,
  columns: readonly ColumnFacts[],
): WithDiagnostics<Pick<EntityFacts, 'defaultOrder'>> {
  const asked = relation.settings.defaultOrder
  const sorted = new Set(columns.flatMap(({ column, order }) => (order ? [column] : [])))
  const known = asked.filter(({ column }) => sorted.has(column))
  const diagnostics = asked
    .filter(({ column }) => !sorted.has(column))
    .map(({ column }) => diagnose('default-order-unusable', nameRelation(relation), { column }))
  return withDiagnostics(known.length === 0 ? {} : { defaultOrder: known }, diagnostics)
}
