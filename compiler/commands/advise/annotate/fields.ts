import type { EntityFacts, Manifest } from '../../../../runtime/contract/manifest.ts'
import { groupBy } from '../../../../runtime/lib/steps.ts'
import { fieldClaims, type FieldClaim, fieldNames, type Held } from './claims.ts'
import type { Wish } from './comments.ts'
import type { NamedDatabase } from './in-database.ts'

/** Fields that two parts of one type claim: all except the present one get free names. */
export const fieldWishes = (database: NamedDatabase, manifest: Manifest, held: Held): readonly Wish[] =>
  manifest.entities.flatMap((entity) => {
    const taken = new Set(fieldNames(entity))
    return [...groupBy(fieldClaims(database, entity), ({ field }) => field).values()]
      .flatMap((group) => losers(group, entity, held))
      .flatMap(({ rename }) => {
        const wish = rename?.((name) => !taken.has(name))
        if (wish === undefined) return []
        for (const name of Object.values(wish.settings)) taken.add(String(name))
        return [wish]
      })
  })

/** The field stays with its original owner, else with the last one, as it is served. */
function losers(group: readonly FieldClaim[], { id }: EntityFacts, held: Held): readonly FieldClaim[] {
  const holder = group.find(({ object, field }) => held.field(id, field) === object) ?? group.at(-1)
  return group.filter((claim) => claim !== holder)
}
