import type { LookupFacts } from '../../runtime/contract/manifest.ts'
import type { NamedRelation } from './named-relations.ts'
import { isIdentified } from './rules/one-to-one.ts'

/** Unique keys besides the primary one that rows are looked up by (spec/graphql.md 17.3); absent where there are none. */
export function lookupFacts({ relation, schema, key }: NamedRelation): { readonly lookups?: readonly LookupFacts[] } {
  if ((relation.settings.uniqueKeys ?? schema.settings.uniqueKeys ?? false) !== true) return {}
  const isKey = (columns: readonly string[]): boolean =>
    columns.length === key.length && columns.every((name) => key.includes(name))
  const lookups = relation.uniques
    .filter((columns) => !isKey(columns))
    .map((columns) => ({ columns, unique: isIdentified(relation, columns) }))
  return lookups.length > 0 ? { lookups } : {}
}
