import type { EntityFacts, Manifest, ObjectId } from '../../../../runtime/contract/manifest.ts'
import { objectId } from '../../../../runtime/contract/facts.ts'
import { lowerFirst } from '../../../../runtime/contract/name-parts.ts'
import type { Catalog, CatalogRelation, CatalogType } from '../../../catalog/catalog.ts'
import type { AnnotatedType } from '../../../comments/annotated.ts'
import { functionIdentities } from '../../../model/functions.ts'
import { columnField, isValidEnumValue, isValidName, toOneField, typeNameOf } from '../../../model/names.ts'
import type { Commented, CommentKey, Wish } from './comments.ts'
import {
  forwardCandidates,
  functionCandidates,
  giveNames,
  reverseCandidates,
  spellable,
  typeCandidates,
} from './names.ts'
import type { NamedDatabase } from './in-database.ts'
import {
  allNames,
  fieldNames,
  isFreeIn,
  isFreeOnRoots,
  hasKey,
  relationRoots,
  rootHolders,
  type Held,
} from './claims.ts'

/** Invalid GraphQL names, and names that objects of different tables or schemas share. */

const wishFor = (on: Commented, key: CommentKey, value: unknown): Wish => ({ on, settings: { [key]: value } })

const isUnnamed = (database: NamedDatabase, on: Commented, key: CommentKey): boolean => !database.isNamed(on, key)

type GiveField = (id: ObjectId, candidates: readonly string[]) => string

function fieldGiver(database: NamedDatabase): GiveField {
  const known = new Map<ObjectId, (candidates: readonly string[]) => string>()
  return (id, candidates) => {
    const entity = database.entity(id)
    const taken = new Set(entity === undefined ? ['nodeId'] : fieldNames(entity))
    const give = known.get(id) ?? giveNames((one) => isValidName(one) && !taken.has(one))
    known.set(id, give)
    return give(candidates)
  }
}

export function unspellableWishes(database: NamedDatabase, manifest: Manifest): readonly Wish[] {
  const give = giveNames(isFreeIn(manifest, allNames(manifest)), lowerFirst)
  const giveField = fieldGiver(database)
  return database.relations.flatMap((relation) => {
    const inflected = database.inflects(relation.schema)
    const on: Commented = { kind: 'relation', relation }
    const type = typeNameOf(null, relation.name, inflected)
    if (isValidName(type) || !isUnnamed(database, on, 'name'))
      return [...columnWishes(database, relation, giveField), ...linkWishes(database, relation, giveField)]
    // Its members are named in the next round.
    return [wishFor(on, 'name', give([spellable(type), ...typeCandidates(relation.schema, type, inflected)]))]
  })
}

function columnWishes(database: NamedDatabase, relation: CatalogRelation, giveField: GiveField): readonly Wish[] {
  const id = objectId(relation.schema, relation.name)
  const fieldOf = (name: string): string => columnField(null, name, database.inflects(relation.schema))
  return relation.columns.flatMap(({ name: column }) => {
    const field = fieldOf(column)
    const on: Commented = { kind: 'column', relation, column }
    const isNodeId = field === 'nodeId'
    if ((isValidName(field) && !isNodeId) || !isUnnamed(database, on, 'name')) return []
    const served = database.entity(id)?.columns.find((one) => one.column === column)?.field ?? null
    const name = served ?? giveField(id, [isNodeId ? fieldOf(`${column}_value`) : spellable(field)])
    return [wishFor(on, 'name', name)]
  })
}

function linkWishes(database: NamedDatabase, relation: CatalogRelation, giveField: GiveField): readonly Wish[] {
  const child = database.entity(objectId(relation.schema, relation.name))
  if (child === undefined) return []
  return relation.foreignKeys.flatMap((key) => {
    const parent = database.entity(objectId(key.foreignSchema, key.foreignRelation))
    if (parent === undefined) return []
    const on: Commented = { kind: 'foreign key', relation, constraint: key.name }
    const there = { name: parent.name, schema: { inflects: database.inflects(parent.schema) } }
    const here = { name: child.name, schema: { inflects: database.inflects(child.schema) } }
    const isUnusable = (setting: CommentKey, name: string): boolean =>
      isUnnamed(database, on, setting) && (!isValidName(name) || name === 'nodeId')
    const forward = forwardCandidates(key, there.name, there.schema.inflects)
    const reverse = reverseCandidates(here.name, key, false, here.schema.inflects)
    return [
      ...(isUnusable('foreign_name', toOneField(key.columns, there))
        ? [wishFor(on, 'foreign_name', giveField(child.id, forward))]
        : []),
      ...(isUnusable('local_name', toOneField(key.foreignColumns, here))
        ? [wishFor(on, 'local_name', giveField(parent.id, reverse))]
        : []),
    ]
  })
}

/**
 * Types with a taken name, or with taken root fields: these begin in lower case, so that Label and label share theirs.
 */
export function sharedTypeWishes(
  database: NamedDatabase,
  catalog: Catalog,
  manifest: Manifest,
  held: Held,
): readonly Wish[] {
  const names = allNames(manifest)
  const give = giveNames(isFreeIn(manifest, names), lowerFirst)
  const types = new Map(catalog.types.map((type) => [objectId(type.schema, type.name), type]))
  const rename = (on: Commented, schema: string, name: string): readonly Wish[] => {
    if (!isUnnamed(database, on, 'name')) return []
    return [wishFor(on, 'name', give(typeCandidates(schema, name, database.inflects(schema))))]
  }
  const rooted = rootHolders(manifest)
  const lacksType = (entity: EntityFacts): boolean =>
    (held.type(entity.name) ?? (names.owns(entity) && entity.id)) !== entity.id
  const lacksRoots = (entity: EntityFacts): boolean =>
    hasKey(entity) && (held.root(entity.name) ?? rooted.get(lowerFirst(entity.name))) !== entity.id
  return [
    ...manifest.entities
      .filter((entity) => lacksType(entity) || lacksRoots(entity))
      .flatMap(({ id, schema, relation }) =>
        rename({ kind: 'relation', relation: database.relation(id) }, schema, relation),
      ),
    ...manifest.enums
      .filter((item) => !names.ownsEnum(item) && held.type(item.name) !== item.id)
      .flatMap(({ id, schema }) => {
        const type = types.get(id)
        return type === undefined ? [] : rename({ kind: 'type', type }, schema, type.name)
      }),
  ]
}

/** Enums with labels that are invalid in GraphQL, or with an invalid name. */
export function enumWishes(
  database: NamedDatabase,
  catalog: Catalog,
  annotated: readonly AnnotatedType[],
  manifest: Manifest,
): readonly Wish[] {
  const types = new Map(catalog.types.map((type) => [type.oid, type]))
  const nameOf = giveNames(isFreeIn(manifest, allNames(manifest)))
  return annotated
    .filter(({ kind, schema }) => kind === 'e' && catalog.schemas.some(({ name }) => name === schema))
    .flatMap((item) => {
      const type = types.get(item.oid)
      return type === undefined ? [] : [...labelWishes(item, type), ...enumNameWishes(database, type, nameOf)]
    })
}

function enumNameWishes(
  database: NamedDatabase,
  type: CatalogType,
  nameOf: (candidates: readonly string[]) => string,
): readonly Wish[] {
  const inflected = database.inflects(type.schema)
  const on: Commented = { kind: 'type', type }
  const name = typeNameOf(null, type.name, inflected)
  return isValidName(name) || !isUnnamed(database, on, 'name')
    ? []
    : [wishFor(on, 'name', nameOf([spellable(name), ...typeCandidates(type.schema, name, inflected)]))]
}

function labelWishes({ labels, settings }: AnnotatedType, type: CatalogType): readonly Wish[] {
  const given = new Map(settings.mappings ?? [])
  const taken = new Set(labels.map((label) => given.get(label) ?? label).filter(isValidEnumValue))
  const give = giveNames((name) => !taken.has(name) && isValidEnumValue(name))
  const added = labels
    .filter((label) => !isValidEnumValue(given.get(label) ?? label))
    .map((label) => [label, give([spellable(label), spellable(label).toUpperCase()])] as const)
  return added.length === 0
    ? []
    : [wishFor({ kind: 'type', type }, 'mappings', Object.fromEntries([...given, ...added]))]
}

/** Functions whose root field belongs to a table, or to a function of another schema. */
export function rootWishes(database: NamedDatabase, manifest: Manifest): readonly Wish[] {
  const give = giveNames(isFreeOnRoots(manifest))
  const claimed = { true: new Set(relationRoots(manifest, true)), false: new Set(relationRoots(manifest, false)) }
  return manifest.functions.flatMap(({ id, field, schema, volatile }) => {
    const taken = claimed[`${volatile}`]
    if (!taken.has(field)) {
      taken.add(field)
      return []
    }
    const fn = database.functions.find((one) => functionIdentities(one).includes(id))
    if (fn === undefined || !isUnnamed(database, { kind: 'function', fn }, 'name')) return []
    return [
      wishFor({ kind: 'function', fn }, 'name', give(functionCandidates(field, schema, database.inflects(schema)))),
    ]
  })
}
