import type { Catalog, CatalogRelation } from '../../../compiler/catalog/catalog.ts'
import type { Draw } from '../questions/draw.ts'

/** The same Catalog with its unordered lists in another order. */
export function permuted(draw: Draw, catalog: Catalog): Catalog {
  return {
    ...catalog,
    roles: shuffled(draw, catalog.roles),
    memberships: shuffled(draw, catalog.memberships),
    types: shuffled(draw, catalog.types),
    functions: shuffled(draw, catalog.functions),
    relations: shuffled(draw, catalog.relations).map((relation) => permutedRelation(draw, relation)),
  }
}

const permutedRelation = (draw: Draw, relation: CatalogRelation): CatalogRelation => ({
  ...relation,
  grants: shuffled(draw, relation.grants),
  uniques: shuffled(draw, relation.uniques),
  foreignKeys: shuffled(draw, relation.foreignKeys),
})

/** The items in any order. */
export function shuffled<T>(draw: Draw, items: readonly T[]): readonly T[] {
  const left = [...items]
  return items.map(() => left.splice(draw.int(left.length), 1)[0] as T)
}
