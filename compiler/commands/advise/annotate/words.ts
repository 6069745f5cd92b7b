import type { EntityFacts, Manifest, RelationFacts } from '../../../../runtime/contract/manifest.ts'
import { lowerFirst } from '../../../../runtime/contract/name-parts.ts'
import { isValidName } from '../../../model/names.ts'
import type { Commented, Wish } from './comments.ts'
import type { NamedDatabase } from './in-database.ts'
import { constraintOf, keyColumnsOf, allNames, fieldNames, isFreeIn } from './claims.ts'
import { forwardCandidates, manyCandidates, singularOf, typeCandidates } from './names.ts'

/** Names in natural language: one row of `posts` is a `Post`, and an author has `posts`. */

/** Types in the singular; of equal ones, the second is prefixed with its schema. Reserved names are not given. */
export function singularWishes(database: NamedDatabase, manifest: Manifest): readonly Wish[] {
  const isFree = isFreeIn(manifest, allNames(manifest))
  const taken = new Set<string>()
  const renamed = manifest.entities.map((entity) => {
    const singular = singularOf(entity.name)
    if (singular === entity.name || database.isNamed(commented(database, entity), 'name')) return entity
    const candidates = [singular, ...typeCandidates(entity.schema, singular, database.inflects(entity.schema))]
    const name = candidates.find((one) => isFree(one) && !taken.has(lowerFirst(one)))
    if (name === undefined) return entity
    taken.add(lowerFirst(name))
    return { ...entity, name }
  })
  const names = allNames({ ...manifest, entities: renamed })
  return renamed
    .filter((entity, place) => entity !== manifest.entities[place] && names.owns(entity))
    .map((entity) => ({ on: commented(database, entity), settings: { name: entity.name } }))
}

const commented = (database: NamedDatabase, { id }: EntityFacts): Commented => ({
  kind: 'relation',
  relation: database.relation(id),
})

/** Fields of many rows, in the plural. They only take names that are free in the type. */
export const pluralWishes = (database: NamedDatabase, { entities }: Manifest): readonly Wish[] =>
  entities.flatMap((entity) => {
    const taken = new Set(fieldNames(entity))
    return entity.relations.flatMap((relation, index) => {
      const constraint = isMany(relation) ? constraintOf(database, entity, relation, index) : null
      const child = database.entity(relation.target)
      if (constraint === null || child === undefined) return []
      const on = { kind: 'foreign key', relation: database.relation(child.id), constraint } as const
      if (database.isNamed(on, 'local_name')) return []
      const inflected = database.inflects(child.schema)
      const isPlain = isOnly(entity, relation) || leadsToThe(database, entity, relation)
      const name = manyCandidates(child.name, keyColumnsOf(relation), isPlain, inflected).find(
        (one) => isValidName(one) && !taken.has(one),
      )
      if (name === undefined) return []
      taken.add(name)
      return [{ on, settings: { local_name: name } }]
    })
  })

const isMany = ({ direction, shape, way }: RelationFacts): boolean =>
  direction === 'reverse' && shape === 'many' && way === undefined

const isOnly = ({ relations }: EntityFacts, { target }: RelationFacts): boolean =>
  relations.filter((other) => isMany(other) && other.target === target).length === 1

/** Whether the columns are named after their target: `author_id` to `author`, not `editor_id`. */
const leadsToThe = (database: NamedDatabase, entity: EntityFacts, relation: RelationFacts): boolean =>
  forwardCandidates(keyColumnsOf(relation), entity.name, database.inflects(entity.schema))[0] ===
  lowerFirst(entity.name)
