import type { Diagnostic, EntityFacts } from '../../runtime/contract/manifest.ts'
import type { SoftDeleteFacts } from '../../runtime/contract/stated.ts'
import type { AnnotatedRelation } from '../comments/annotated.ts'
import { diagnose, withDiagnostics, type WithDiagnostics } from '../catalog/diagnostics/diagnostics.ts'
import { nameRelation } from '../catalog/catalog.ts'
import { baseName } from './default-filter.ts'
import type { ValueScope } from './scalars.ts'

/** The column that marks rows as deleted (spec/graphql.md 17.5); an unusable one is a fault that forbids deleting. */
export function softDelete(
  relation: AnnotatedRelation,
  scope: ValueScope,
): WithDiagnostics<Pick<EntityFacts, 'softDelete'>> {
  const { softDelete: name } = relation.settings
  if (name === null) return withDiagnostics({})
  const facts = marked(relation, scope, name)
  const diagnostics: readonly Diagnostic[] =
    facts === null ? [diagnose('soft-delete-unusable', nameRelation(relation), { column: name })] : []
  return withDiagnostics({ softDelete: facts }, diagnostics)
}

function marked({ columns }: AnnotatedRelation, scope: ValueScope, name: string): SoftDeleteFacts | null {
  const column = columns.find((one) => one.name === name)
  if (column === undefined || column.generated) return null
  const mark = kinds[baseName(scope, column)]
  return mark === undefined || (mark === 'time' && column.notNull) ? null : { column: name, mark }
}

const kinds: Readonly<Record<string, SoftDeleteFacts['mark']>> = {
  timestamptz: 'time',
  timestamp: 'time',
  bool: 'flag',
}
