import { compareBytes } from '../../runtime/lib/text.ts'
import type { EntityFacts, LookupFacts } from '../../runtime/contract/manifest.ts'
import { isOn } from '../comments/additions.ts'
import type { NamedRelation } from './named-relations.ts'
import { isIdentified } from '../catalog/catalog.ts'
import { tableAdditions } from './scope.ts'

/**
 * Unique keys for look-ups, changes and connections (spec/graphql.md 17.3, 17.4, 17.6); absent if the addition is off
 * or there are none.
 */
export function lookupFacts(named: NamedRelation): Pick<EntityFacts, 'lookups' | 'rowKeys'> {
  const { relation, schema } = named
  const isLookedUp = isOn('uniqueKeys', relation, schema)
  const { updates, nestedWrites } = tableAdditions(relation, schema)
  const isChanged = updates === true || nestedWrites === true
  const keys = isLookedUp || isChanged ? lookupKeys(named) : []
  if (keys.length === 0) return {}
  return { ...(isLookedUp && { lookups: keys }), ...(isChanged && { rowKeys: keys }) }
}

function lookupKeys({ relation, key }: NamedRelation): readonly LookupFacts[] {
  const isKey = (columns: readonly string[]): boolean =>
    columns.length === key.length && columns.every((name) => key.includes(name))
  return relation.uniques
    .filter((columns) => !isKey(columns))
    .toSorted((a, b) => compareBytes(JSON.stringify(a), JSON.stringify(b)))
    .map((columns) => ({ columns, unique: isIdentified(relation, columns) }))
}
