import type { UniqueKeyFacts } from '../../runtime/contract/manifest.ts'
import type { AnnotatedRelation } from '../comments/annotated.ts'
import { diagnose, withDiagnostics, type WithDiagnostics } from '../catalog/diagnostics/diagnostics.ts'
import { nameConstraint } from '../catalog/catalog.ts'
import type { NamedRelation } from './named-relations.ts'
import { isValidEnumValue } from './names.ts'
import { tableAdditions } from './scope.ts'
import type { ArbiterSql } from './model.ts'

/** The unique keys for `onConflict` (spec/graphql.md 17), if the relation has `upsert`. */
export interface Arbiters {
  readonly facts: readonly UniqueKeyFacts[]
  readonly sql: readonly ArbiterSql[]
}

/** A key with an invalid GraphQL name cannot be selected, and is reported. */
export function buildArbiters(named: NamedRelation): WithDiagnostics<Arbiters> | null {
  const { relation, schema } = named
  if (tableAdditions(relation, schema).upsert !== true) return null
  const usable = relation.uniqueKeys.filter(({ name }) => isValidEnumValue(name))
  const others = relation.uniqueKeys.filter((key) => !usable.includes(key))
  return withDiagnostics(
    {
      facts: usable.map(({ name, parts, predicate }) => ({
        name,
        ...keyColumns(relation, parts),
        whole: predicate !== null || parts.some((part) => 'expression' in part),
      })),
      sql: usable,
    },
    others.map(({ name }) => diagnose('unique-key-unusable', nameConstraint(relation, name), { name })),
  )
}

function keyColumns(
  relation: AnnotatedRelation,
  parts: AnnotatedRelation['uniqueKeys'][number]['parts'],
): Pick<UniqueKeyFacts, 'columns' | 'generated'> {
  const columns = parts.flatMap((part) => ('column' in part ? [part.column] : []))
  const generated = columns.filter((column) => relation.columns.some((one) => one.name === column && one.generated))
  return { columns, ...(generated.length > 0 && { generated }) }
}
