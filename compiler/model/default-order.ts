import type { ColumnFacts, Diagnostic, EntityFacts } from '../../runtime/contract/manifest.ts'
import type { DefaultOrderFacts } from '../../runtime/contract/stated.ts'
import type { AnnotatedRelation } from '../comments/annotated.ts'
import { diagnose, withDiagnostics, type WithDiagnostics } from '../catalog/diagnostics/diagnostics.ts'
import { nameRelation } from '../catalog/catalog.ts'

type Facts = Pick<EntityFacts, 'defaultOrder'>

/** The default order in a relation's comment (spec/graphql.md 17.5), as far as its columns are sortable. */
export function defaultOrder(relation: AnnotatedRelation, columns: readonly ColumnFacts[]): WithDiagnostics<Facts> {
  const asked = relation.settings.defaultOrder
  const isSorted = (name: string): boolean => columns.some(({ column, order }) => column === name && order)
  const known = asked.filter(({ column }) => isSorted(column))
  const diagnostics = asked
    .filter(({ column }) => !isSorted(column))
    .map(({ column }): Diagnostic => diagnose('default-order-unusable', nameRelation(relation), { column }))
  const facts: readonly DefaultOrderFacts[] = known
  return withDiagnostics(facts.length === 0 ? {} : { defaultOrder: facts }, diagnostics)
}
