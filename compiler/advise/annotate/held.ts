import type { EntityFacts, Manifest, ObjectId } from '../../../runtime/contract/manifest.ts'
import { lowerFirst, rootField, type RootField, partList, parts } from '../../../runtime/contract/name-parts.ts'
import { changeFields, lookupsOf } from '../../../runtime/contract/lookups.ts'
import { createNames, type Names } from '../../../runtime/contract/type-names.ts'
import type { NamedDatabase } from './in-database.ts'
import { fieldClaims } from './claims.ts'

/**
 * The names before any comment: clients use them, so no comment may give one to another object. They are those of a
 * role that sees everything.
 */
export interface Held {
  /** The object with the field of a type, as in a claim. */
  readonly field: (type: ObjectId, field: string) => string | undefined
  /** The relation or enum with the type. */
  readonly type: (name: string) => ObjectId | undefined
  /** The relation with the root fields, by its name in lower case at the beginning. */
  readonly root: (name: string) => ObjectId | undefined
}

export function heldIn(database: NamedDatabase, manifest: Manifest): Held {
  const names = allNames(manifest)
  const fields = new Map(
    manifest.entities.map((entity) => [
      entity.id,
      new Map(fieldClaims(database, entity).map(({ field, object }) => [field, object])),
    ]),
  )
  const types = new Map(
    [
      ...manifest.entities.filter((entity) => names.owns(entity)),
      ...manifest.enums.filter((item) => names.ownsEnum(item)),
    ].map(({ name, id }) => [name, id]),
  )
  const roots = new Map(
    manifest.entities
      .filter(hasKey)
      .map(({ name, id }) => [lowerFirst(name), id] as const)
      .toReversed(),
  )
  return {
    field: (type, field) => fields.get(type)?.get(field),
    type: (name) => types.get(name),
    root: (name) => roots.get(lowerFirst(name)),
  }
}

export const hasKey = ({ key }: EntityFacts): boolean => key.length > 0

/** Names of the types of a database for a role that sees everything. */
export const allNames = (manifest: Manifest): Names =>
  createNames(manifest, { readable: manifest.entities.map(() => true), insertOnly: [] })

const queryFields: readonly RootField[] = ['collection', 'byKey']
const mutationFields: readonly RootField[] = ['insert', 'update', 'delete']

/** The root fields of a relation with a key and that name. */
export const rootFieldsFor = (name: string, isMutation: boolean): readonly string[] =>
  (isMutation ? mutationFields : queryFields).map((kind) => rootField(kind, name))

/** The root fields of relations. */
export const relationRoots = ({ entities }: Manifest, isMutation: boolean): readonly string[] =>
  entities
    .filter((entity) => hasKey(entity) && (isMutation || entity.root))
    .flatMap(({ name }) => rootFieldsFor(name, isMutation))

/** All fields of a root. */
const rootsOf = (manifest: Manifest): readonly string[] => [
  ...relationRoots(manifest, false),
  ...relationRoots(manifest, true),
  ...manifest.functions.map(({ field }) => field),
  ...manifest.entities.flatMap((entity) => [
    ...lookupsOf(entity).map(({ name }) => name),
    ...changeFields(entity),
    ...(entity.collections ?? []).map((name) => rootField('collection', name)),
  ]),
]

/** All fields of a type. */
export const fieldNames = ({ columns, relations, computed, unions = [] }: EntityFacts): readonly string[] => [
  'nodeId',
  ...[...columns, ...relations, ...computed, ...unions].flatMap(({ field }) => field ?? []),
]

/** Whether a name is free: no type or dependent type has it, and no root field. */
export function isFreeIn(manifest: Manifest, names: Names): (name: string) => boolean {
  const roots = new Set(rootsOf(manifest))
  const bases = new Set(manifest.entities.map(({ name }) => lowerFirst(name)))
  return (name) =>
    !bases.has(lowerFirst(name)) &&
    partList.every((part) => names.find(name + parts[part]) === undefined) &&
    [...rootFieldsFor(name, false), ...rootFieldsFor(name, true)].every((field) => !roots.has(field))
}

/** Whether no root field has the name. */
export function isFreeOnRoots(manifest: Manifest): (name: string) => boolean {
  const roots = new Set(rootsOf(manifest))
  return (name) => !roots.has(name) && name !== 'node'
}
