import type { ColumnFacts, EntityFacts } from '../../../runtime/contract/manifest.ts'
import { nameRelation } from '../../catalog/catalog.ts'
import { diagnose, withDiagnostics, type WithDiagnostics } from '../../catalog/diagnostics/diagnostics.ts'
import { isCondition } from '../../model/conditions.ts'
import type { NamedRelation } from '../../model/named-relations.ts'
import type { ValueScope } from '../../model/scalars.ts'

/** The rows that a relation's comment selects by default (spec/graphql.md 17.5), by conditions that never fail. */
export function relationFacts(
  { relation }: NamedRelation,
  columns: readonly ColumnFacts[],
  scope: ValueScope,
): WithDiagnostics<Pick<EntityFacts, 'defaultFilter'>> {
  const asked = relation.settings.defaultFilter
  const isUsable = isCondition(relation, columns, scope)
  const diagnostics = asked
    .filter((condition) => !isUsable(condition))
    .map((condition) => diagnose('default-filter-unusable', nameRelation(relation), condition))
  const usable = asked.filter(isUsable)
  return withDiagnostics(usable.length === 0 ? {} : { defaultFilter: usable }, diagnostics)
}
