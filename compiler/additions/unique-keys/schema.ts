import type { EntityFacts } from '../../../runtime/contract/manifest.ts'
import type { SchemaAddition } from '../../../runtime/engine/additions.ts'
import { byKeyField } from '../../../runtime/engine/schema/roots.ts'
import { basesOfLookup, lookupsOf, type KeyLookup } from './facts.ts'

export const uniqueKeys: SchemaAddition = {
  name: 'lookups',
  queryFields: (visible, types, { entitiesNamed, entities }) => {
    const offered = (entity: EntityFacts): readonly KeyLookup[] =>
      lookupsOf(entity).filter(({ columns }) => columns.every(({ column }) => visible.findsBy(entity, column)))
    return {
      find: (name) => {
        const [found] = entitiesNamed(basesOfLookup(name)).flatMap((entity) =>
          offered(entity).flatMap((one) => (one.name === name ? [{ entity, ...one }] : [])),
        )
        if (found === undefined) return undefined
        const columns = found.columns.map(({ field, type }) => ({ name: field, type }))
        return () => byKeyField(found.entity, columns, types, found.facts)
      },
      names: () => entities().flatMap((entity) => offered(entity).map(({ name }) => name)),
    }
  },
}
