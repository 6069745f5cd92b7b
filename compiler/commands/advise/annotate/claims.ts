import type { EntityFacts, Manifest, ObjectId, RelationFacts } from '../../../../runtime/contract/manifest.ts'
import { lowerFirst, rootField, type RootField } from '../../../../runtime/contract/name-parts.ts'
import { createNames, type Names } from '../../../../runtime/contract/type-names.ts'
import { additions, partNames } from '../../../additions/table.ts'
import type { NamedDatabase } from './in-database.ts'
import { objectId } from '../../../../runtime/contract/facts.ts'
import { functionIdentities } from '../../../model/functions.ts'
import {
  columnCandidates,
  forwardCandidates,
  functionCandidates,
  pickName,
  reverseCandidates,
  type KeyColumns,
} from './names.ts'
import type { Wish } from './comments.ts'

/** A claim on a field of a type (spec/graphql.md 2.4). */
export interface FieldClaim {
  readonly field: string
  readonly object: string
  /** The wish for another name; null: the owner named it, or a comment declares it. */
  readonly rename: ((isFree: (name: string) => boolean) => Wish) | null
}

/** In serving order: of several for one field the last is used. */
export function fieldClaims(database: NamedDatabase, entity: EntityFacts): readonly FieldClaim[] {
  return [
    ...entity.columns.flatMap(({ column, field }) =>
      field === null ? [] : [columnClaim(database, entity, column, field)],
    ),
    // Relations declared by comments take free names only.
    ...entity.relations.flatMap((relation, index) =>
      relation.way === undefined ? [relationClaim(database, entity, relation, index)] : [],
    ),
    ...entity.computed.map(({ field, id }) => functionClaim(database, entity, field, id)),
  ]
}

function columnClaim(database: NamedDatabase, entity: EntityFacts, column: string, field: string): FieldClaim {
  const relation = database.relation(entity.id)
  const isNamed = database.isNamed({ kind: 'column', relation, column }, 'name')
  const isKey = entity.relations.some(({ direction, local }) => direction === 'forward' && local.includes(column))
  const candidates = columnCandidates(column, isKey, database.inflects(entity.schema))
  return {
    field,
    object: `column ${column}`,
    rename: isNamed
      ? null
      : (isFree) => ({ on: { kind: 'column', relation, column }, settings: { name: pickName(candidates, isFree) } }),
  }
}

const isSameList = (a: readonly string[], b: readonly string[]): boolean => JSON.stringify(a) === JSON.stringify(b)

export const keyColumnsOf = ({ direction, local, foreign }: RelationFacts): KeyColumns =>
  direction === 'forward' ? { columns: local, foreignColumns: foreign } : { columns: foreign, foreignColumns: local }

/** The constraint of a relation: the first, second, ... of those that join the same columns. */
export function constraintOf(
  database: NamedDatabase,
  entity: EntityFacts,
  relation: RelationFacts,
  index: number,
): string | null {
  const isForward = relation.direction === 'forward'
  const [child, parent] = isForward ? [entity.id, relation.target] : [relation.target, entity.id]
  const { columns, foreignColumns } = keyColumnsOf(relation)
  const place = entity.relations
    .slice(0, index)
    .filter(
      (other) =>
        other.direction === relation.direction &&
        other.target === relation.target &&
        isSameList(other.local, relation.local) &&
        isSameList(other.foreign, relation.foreign),
    ).length
  const keys = database
    .relation(child)
    .foreignKeys.filter(
      (key) =>
        objectId(key.foreignSchema, key.foreignRelation) === parent &&
        isSameList(key.columns, columns) &&
        isSameList(key.foreignColumns, foreignColumns),
    )
  return keys[place]?.name ?? null
}

function relationClaim(...[database, entity, relation, index]: Parameters<typeof constraintOf>): FieldClaim {
  const { field, direction, shape, target } = relation
  const isForward = direction === 'forward'
  const setting = isForward ? 'foreign_name' : 'local_name'
  const child = database.relation(isForward ? entity.id : target)
  const constraint = constraintOf(database, entity, relation, index)
  const other = database.entity(target) ?? entity
  const key = keyColumnsOf(relation)
  const names = isForward
    ? forwardCandidates(key, other.name, database.inflects(other.schema))
    : reverseCandidates(other.name, key, shape === 'one', database.inflects(other.schema))
  const on = constraint === null ? null : ({ kind: 'foreign key', relation: child, constraint } as const)
  return {
    field,
    object: `${direction} ${target} ${constraint ?? JSON.stringify([relation.local, relation.foreign])}`,
    rename:
      on === null || database.isNamed(on, setting)
        ? null
        : (isFree) => ({ on, settings: { [setting]: pickName(names, isFree) } }),
  }
}

function functionClaim(database: NamedDatabase, entity: EntityFacts, field: string, id: string): FieldClaim {
  const fn = database.functions.find((one) => functionIdentities(one).includes(id) && database.takesRow(one, entity.id))
  return {
    field,
    object: `function ${id}`,
    rename:
      fn === undefined || database.isNamed({ kind: 'function', fn }, 'name')
        ? null
        : (isFree) => ({
            on: { kind: 'function', fn },
            settings: {
              name: pickName(functionCandidates(field, entity.name, database.inflects(entity.schema)), isFree),
            },
          }),
  }
}

/**
 * The names before any comment: clients use them, so no comment may give one to another object. They are those of a
 * role that sees everything.
 */
export interface Held {
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
  const roots = rootHolders(manifest)
  return {
    field: (type, field) => fields.get(type)?.get(field),
    type: (name) => types.get(name),
    root: (name) => roots.get(lowerFirst(name)),
  }
}

/** The relation with the root fields of a name in lower case at the beginning: of several, the first. */
export const rootHolders = ({ entities }: Manifest): ReadonlyMap<string, ObjectId> =>
  new Map(
    entities
      .filter(hasKey)
      .map(({ name, id }) => [lowerFirst(name), id] as const)
      .toReversed(),
  )

export const hasKey = ({ key }: EntityFacts): boolean => key.length > 0

/** Names of the types of a database for a role that sees everything. */
export const allNames = (manifest: Manifest): Names =>
  createNames(manifest, { readable: manifest.entities.map(() => true), insertOnly: [] }, partNames)

const queryFields: readonly RootField[] = ['collection', 'byKey']
const mutationFields: readonly RootField[] = ['insert', 'update', 'delete']

export const rootFieldsFor = (name: string, isMutation: boolean): readonly string[] =>
  (isMutation ? mutationFields : queryFields).map((kind) => rootField(kind, name))

export const relationRoots = ({ entities }: Manifest, isMutation: boolean): readonly string[] =>
  entities
    .filter((entity) => hasKey(entity) && (isMutation || entity.root))
    .flatMap(({ name }) => rootFieldsFor(name, isMutation))

const rootNames = additions.flatMap(({ queryNames = [], mutationNames = [] }) => [queryNames, mutationNames].flat())

const rootsOf = (manifest: Manifest): readonly string[] => [
  ...relationRoots(manifest, false),
  ...relationRoots(manifest, true),
  ...manifest.functions.map(({ field }) => field),
  ...manifest.entities.flatMap((entity) => [
    ...rootNames.flatMap((namesOf) => namesOf(entity)),
    ...(entity.collections ?? []).map((name) => rootField('collection', name)),
  ]),
]

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
    Object.values(names.table.suffixes).every((suffix) => names.find(name + suffix) === undefined) &&
    [...rootFieldsFor(name, false), ...rootFieldsFor(name, true)].every((field) => !roots.has(field))
}

export function isFreeOnRoots(manifest: Manifest): (name: string) => boolean {
  const roots = new Set(rootsOf(manifest))
  return (name) => !roots.has(name) && name !== 'node'
}
