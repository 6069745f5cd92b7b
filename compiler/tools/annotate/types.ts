import type { EntityFacts, Manifest } from '../../../runtime/contract/manifest.ts'
import { objectId } from '../../../runtime/contract/object-id.ts'
import { lowerFirst, rootField, type RootField } from '../../../runtime/contract/root-fields.ts'
import { createNames, type Names } from '../../../runtime/contract/type-names.ts'
import type { Catalog, CatalogRelation, CatalogType } from '../../catalog/types.ts'
import type { AnnotatedType } from '../../comments/types.ts'
import { functionIdentities } from '../../model/function-names.ts'
import { columnField, isValidEnumValue, isValidName, toOneField, typeNameOf } from '../../model/names.ts'
import type { Commented, CommentKey, Wish } from './comments.ts'
import {
  forwardCandidates,
  functionCandidates,
  pickName,
  reverseCandidates,
  spellable,
  typeCandidates,
} from './names.ts'
import type { NamedDatabase } from './database.ts'

/** Names that GraphQL cannot spell, and names that objects of different tables or schemas share. */

/** Names of the types of a database of which a role sees everything. */
export const allNames = (manifest: Manifest): Names =>
  createNames(
    manifest,
    manifest.entities.map(() => true),
  )

/** Whether nothing bears a name yet, neither a type nor, but for the case of its first letter, its fields on the roots. */
export function isFreeIn(manifest: Manifest, names: Names): (name: string) => boolean {
  const fields = new Set(manifest.entities.map(({ name }) => lowerFirst(name)))
  return (name) => names.find(name) === undefined && !fields.has(lowerFirst(name))
}

const wishFor = (on: Commented, key: CommentKey, value: unknown): Wish => ({ on, settings: { [key]: value } })

const unnamed = (database: NamedDatabase, on: Commented, key: CommentKey): boolean => !database.isNamed(on, key)

/** Tables and columns. */
export function unspellableWishes(database: NamedDatabase): readonly Wish[] {
  return database.relations.flatMap((relation) => {
    const inflected = database.inflects(relation.schema)
    const on: Commented = { kind: 'relation', relation }
    const type = typeNameOf(null, relation.name, inflected)
    return [
      ...(isValidName(type) || !unnamed(database, on, 'name') ? [] : [wishFor(on, 'name', spellable(type))]),
      ...columnWishes(database, relation, inflected),
      ...linkWishes(database, relation),
    ]
  })
}

function columnWishes(database: NamedDatabase, relation: CatalogRelation, inflected: boolean): readonly Wish[] {
  const fieldOf = (name: string): string => columnField(null, name, inflected)
  const taken = new Set(relation.columns.map(({ name }) => fieldOf(name)))
  return relation.columns.flatMap(({ name: column }) => {
    const field = fieldOf(column)
    const on: Commented = { kind: 'column', relation, column }
    const isNodeId = field === 'nodeId'
    if ((isValidName(field) && !isNodeId) || !unnamed(database, on, 'name')) return []
    const name = pickName(
      [isNodeId ? fieldOf(`${column}_value`) : spellable(field)],
      (one) => !taken.has(one) && isValidName(one),
    )
    taken.add(name)
    return [wishFor(on, 'name', name)]
  })
}

/** Both sides of foreign keys, which are named by columns. */
function linkWishes(database: NamedDatabase, relation: CatalogRelation): readonly Wish[] {
  const child = database.entity(objectId(relation.schema, relation.name))
  if (child === undefined) return []
  return relation.foreignKeys.flatMap((key) => {
    const parent = database.entity(objectId(key.foreignSchema, key.foreignRelation))
    if (parent === undefined) return []
    const on: Commented = { kind: 'foreign key', relation, constraint: key.name }
    const there = { name: parent.name, schema: { inflects: database.inflects(parent.schema) } }
    const here = { name: child.name, schema: { inflects: database.inflects(child.schema) } }
    const isUsable = (name: string): boolean => isValidName(name) && name !== 'nodeId'
    return [
      ...(unnamed(database, on, 'foreign_name') && !isUsable(toOneField(key.columns, there))
        ? [wishFor(on, 'foreign_name', pickName(forwardCandidates(key, there.name, there.schema.inflects), isUsable))]
        : []),
      ...(unnamed(database, on, 'local_name') && !isUsable(toOneField(key.foreignColumns, here))
        ? [
            wishFor(
              on,
              'local_name',
              pickName(reverseCandidates(here.name, key, false, here.schema.inflects), isUsable),
            ),
          ]
        : []),
    ]
  })
}

/** Types whose name another one has; the first schema keeps it. */
export function sharedTypeWishes(database: NamedDatabase, catalog: Catalog, manifest: Manifest): readonly Wish[] {
  const names = allNames(manifest)
  const isFree = isFreeIn(manifest, names)
  const claimed = new Set<string>()
  // Root fields begin in lower case, so that Label and label share theirs.
  const sharesField = ({ name }: EntityFacts): boolean => {
    const isClaimed = claimed.has(lowerFirst(name))
    claimed.add(lowerFirst(name))
    return isClaimed
  }
  const types = new Map(catalog.types.map((type) => [objectId(type.schema, type.name), type]))
  const rename = (on: Commented, schema: string, name: string): readonly Wish[] =>
    unnamed(database, on, 'name')
      ? [wishFor(on, 'name', pickName(typeCandidates(schema, name, database.inflects(schema)), isFree))]
      : []
  return [
    ...manifest.entities
      .filter((entity) => sharesField(entity) || !names.owns(entity))
      .flatMap(({ id, schema, relation }) =>
        rename({ kind: 'relation', relation: database.relation(id) }, schema, relation),
      ),
    ...manifest.enums
      .filter((item) => !names.ownsEnum(item))
      .flatMap(({ id, schema }) => {
        const type = types.get(id)
        return type === undefined ? [] : rename({ kind: 'type', type }, schema, type.name)
      }),
  ]
}

/** Enums with labels that are no values of GraphQL, or with a name that is none. */
export function enumWishes(
  database: NamedDatabase,
  catalog: Catalog,
  annotated: readonly AnnotatedType[],
): readonly Wish[] {
  const types = new Map(catalog.types.map((type) => [type.oid, type]))
  return annotated
    .filter(({ kind, schema }) => kind === 'e' && catalog.schemas.some(({ name }) => name === schema))
    .flatMap((item) => {
      const type = types.get(item.oid)
      return type === undefined ? [] : [...labelWishes(item, type), ...enumNameWishes(database, type)]
    })
}

function enumNameWishes(database: NamedDatabase, type: CatalogType): readonly Wish[] {
  const inflected = database.inflects(type.schema)
  const on: Commented = { kind: 'type', type }
  return isValidName(typeNameOf(null, type.name, inflected)) || !unnamed(database, on, 'name')
    ? []
    : [wishFor(on, 'name', spellable(typeNameOf(null, type.name, inflected)))]
}

function labelWishes({ labels, settings }: AnnotatedType, type: CatalogType): readonly Wish[] {
  const given = new Map(settings.mappings ?? [])
  const taken = new Set(labels.map((label) => given.get(label) ?? label).filter(isValidEnumValue))
  const isFree = (name: string): boolean => !taken.has(name) && isValidEnumValue(name)
  const added = labels
    .filter((label) => !isValidEnumValue(given.get(label) ?? label))
    .map((label) => {
      const name = pickName([spellable(label), spellable(label).toUpperCase()], isFree)
      taken.add(name)
      return [label, name] as const
    })
  return added.length === 0
    ? []
    : [wishFor({ kind: 'type', type }, 'mappings', Object.fromEntries([...given, ...added]))]
}

const queryFields: readonly RootField[] = ['collection', 'byKey']
const mutationFields: readonly RootField[] = ['insert', 'update', 'delete']

/** Functions whose root field a table has, or a function of another schema. */
export function rootWishes(database: NamedDatabase, manifest: Manifest): readonly Wish[] {
  const taken = new Set(
    manifest.entities.flatMap(({ name }) => [...queryFields, ...mutationFields].map((kind) => rootField(kind, name))),
  )
  return manifest.functions.flatMap(({ id, field, schema }) => {
    const isFree = (name: string): boolean => !taken.has(name)
    if (isFree(field)) {
      taken.add(field)
      return []
    }
    const fn = database.functions.find((one) => functionIdentities(one).includes(id))
    if (fn === undefined || !unnamed(database, { kind: 'function', fn }, 'name')) return []
    const name = pickName(functionCandidates(field, schema, database.inflects(schema)), isFree)
    taken.add(name)
    return [wishFor({ kind: 'function', fn }, 'name', name)]
  })
}
