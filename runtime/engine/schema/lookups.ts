import { basesOfLookup, lookupsOf, type KeyLookup } from '../../contract/lookups.ts'
import type { EntityFacts, FunctionFacts } from '../../contract/manifest.ts'
import { once } from '../../lib/caches.ts'
import type { RoleVisibility } from '../view.ts'

/** A look-up and the relation whose row it finds. */
interface FoundLookup {
  readonly entity: EntityFacts
  readonly lookup: KeyLookup
}

export interface Lookups {
  readonly find: (name: string) => FoundLookup | undefined
  readonly names: () => readonly string[]
}

/**
 * Look-ups by unique keys (`uniqueKeys`, spec/graphql.md 17.3), found by their names. Names of functions stay theirs
 * for every caller.
 *
 * @param entitiesNamed relations with root fields that have one of these names, by precedence
 */
export function lookupsFor(
  visible: RoleVisibility,
  entitiesNamed: (names: readonly string[]) => readonly EntityFacts[],
  isCall: (fn: FunctionFacts) => boolean,
): Lookups {
  const called = once(() => new Set(visible.manifest.functions.filter(isCall).map(({ field }) => field)))
  const offered = (entity: EntityFacts): readonly KeyLookup[] =>
    entity.lookups === undefined
      ? []
      : lookupsOf(entity).filter(({ columns }) => columns.every((one) => visible.findsBy(entity, one.column)))
  return {
    find: (name) => {
      const found = entitiesNamed(basesOfLookup(name)).flatMap((entity) => {
        const lookup = offered(entity).find((one) => one.name === name)
        return lookup === undefined ? [] : [{ entity, lookup }]
      })
      return found.length === 0 || called().has(name) ? undefined : found[0]
    },
    names: () =>
      visible.exposed.flatMap((entity) =>
        entity.root ? offered(entity).flatMap(({ name }) => (called().has(name) ? [] : [name])) : [],
      ),
  }
}
