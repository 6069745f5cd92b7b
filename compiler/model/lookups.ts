import { compareBytes } from '../../runtime/lib/text.ts'
import type { EntityFacts, LookupFacts } from '../../runtime/contract/manifest.ts'
import type { NamedRelation } from './named-relations.ts'
import { isIdentified } from '../catalog/catalog.ts'
import { withDiagnostics, type WithDiagnostics } from '../catalog/diagnostics/diagnostics.ts'

/** Unique keys for changes and connections (spec/graphql.md 17.4, 17.6). */
export function rowKeyFacts(named: NamedRelation): WithDiagnostics<Pick<EntityFacts, 'rowKeys'>> {
  const rowKeys = lookupKeys(named)
  return withDiagnostics(rowKeys.length === 0 ? {} : { rowKeys })
}

export function lookupKeys({ relation, key }: NamedRelation): readonly LookupFacts[] {
  const isKey = (columns: readonly string[]): boolean =>
    columns.length === key.length && columns.every((name) => key.includes(name))
  return relation.uniques
    .filter((columns) => !isKey(columns))
    .toSorted((a, b) => compareBytes(JSON.stringify(a), JSON.stringify(b)))
    .map((columns) => ({ columns, unique: isIdentified(relation, columns) }))
}
