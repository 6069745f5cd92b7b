import type { GraphQLObjectType } from 'graphql'
import { basesOfChange, type KeyLookup } from '../../contract/lookups.ts'
import type { EntityFacts, FunctionFacts, LookupFacts, ValueType } from '../../contract/manifest.ts'
import { baseOfField, lowerFirst, rootField, upperFirst } from '../../contract/root-fields.ts'
import { once } from '../../lib/once.ts'
import type { RoleVisibility } from '../view.ts'
import { hasType } from '../visible/columns.ts'
import { collectionArguments } from './collections.ts'
import { besideKey, deletedInput } from './deleted.ts'
import { LazyObjectType, type FieldMakers } from './lazy-object.ts'
import { lookupsFor } from './lookups.ts'
import { resultOf } from './rows.ts'
import { scalars } from './scalars.ts'
import { field, nonNull, type SchemaField, type SchemaTypes } from './types.ts'
import { changeMakersOf, writeMakers } from './writes.ts'

/**
 * The root types (spec/graphql.md 1.5). A field is found by its name, so that what is not asked for costs nothing; of those
 * that want a name, relations come before functions, and earlier ones before later ones.
 */

/** Sorted by name in byte order; names are ASCII, so code units do. */
const sorted = (names: readonly string[]): readonly string[] => [...new Set(names)].sort()

export const makeQuery = (visible: RoleVisibility, types: SchemaTypes): GraphQLObjectType =>
  new LazyObjectType('Query', 'Everything that can be read.', () => readMakers(visible, types, () => true, true))

/** Undefined when the role can watch nothing. */
export function makeSubscription(visible: RoleVisibility, types: SchemaTypes): GraphQLObjectType | undefined {
  const hasRows = visible.exposed.some(isWatched)
  if (!hasRows && !visible.manifest.functions.some((fn) => isRead(fn) && isWatched(fn) && visible.seesFunction(fn)))
    return undefined
  const description = 'What can be watched: each answer that is another one than the last is sent.'
  return new LazyObjectType('Subscription', description, () => readMakers(visible, types, isWatched, hasRows))
}

type Readable = EntityFacts | FunctionFacts

const isWatched = ({ live }: Readable): boolean => live !== undefined && 'reads' in live

const isRead = ({ volatile }: FunctionFacts): boolean => !volatile

/** @param isWanted whether it has fields here */
function readMakers(
  visible: RoleVisibility,
  types: SchemaTypes,
  isWanted: (readable: Readable) => boolean,
  hasNode: boolean,
): FieldMakers {
  const { exposed } = visible
  const placeOf = (name: string): number => {
    const found = visible.names.find(name)
    const isRoot = found?.kind === 'entity' && found.part === 'row' && found.entity.root && isWanted(found.entity)
    return isRoot ? exposed.indexOf(found.entity) : -1
  }
  // No two exposed relations share a name, but two may share a field: "Post" and "post".
  const called = (names: readonly string[]): readonly EntityFacts[] =>
    [...new Set(names)]
      .map(placeOf)
      .sort((a, b) => a - b)
      .flatMap((place) => exposed[place] ?? [])
  const named = (kind: 'collection' | 'byKey', field: string): readonly EntityFacts[] => {
    const base = baseOfField(kind, field)
    return base === undefined || base !== lowerFirst(base) ? [] : called([base, upperFirst(base)])
  }
  const lookups = lookupsFor(visible, called, isRead)
  const calls = callMakers(visible, types, (fn) => isRead(fn) && isWanted(fn))
  return {
    find: (name) => {
      if (name === 'node' && hasNode) return () => nodeField(visible, types)
      const [collection] = named('collection', name)
      if (collection !== undefined) return () => collectionField(collection, types)
      for (const entity of named('byKey', name)) {
        const key = keyColumns(visible, entity)
        if (key !== null) return () => byKeyField(entity, key, types)
      }
      const call = calls.get(name)
      if (call !== undefined) return call
      const found = lookups.find(name)
      return found && (() => lookupField(found.entity, found.lookup, types))
    },
    names: () =>
      sorted([
        ...(hasNode ? ['node'] : []),
        ...exposed.filter((entity) => entity.root && isWanted(entity)).flatMap((entity) => readNames(visible, entity)),
        ...calls.keys(),
        ...lookups.names().filter((name) => lookups.find(name) !== undefined),
      ]),
  }
}

const readNames = (visible: RoleVisibility, entity: EntityFacts): readonly string[] => [
  rootField('collection', entity.name),
  ...(keyColumns(visible, entity) === null ? [] : [rootField('byKey', entity.name)]),
]

const nodeField = ({ manifest }: RoleVisibility, types: SchemaTypes): SchemaField =>
  field(types.node, { kind: 'node' }, 'Any row by its node id; null when there is none that you may see.', {
    nodeId: { type: nonNull(scalars.ID), description: 'The node id of the row.' },
    ...(manifest.softDelete === true ? deletedInput : {}),
  })

/** Undefined when the role can change nothing: such a type would have no field. */
export function makeMutation(visible: RoleVisibility, types: SchemaTypes): GraphQLObjectType | undefined {
  const writes = visible.exposed.some(
    (entity) =>
      visible.deletes(entity) || visible.insertable(entity).length > 0 || visible.updatable(entity).length > 0,
  )
  const calls = visible.manifest.functions.some((fn) => fn.volatile && visible.seesFunction(fn))
  if (!writes && !calls) return undefined
  const description = 'Everything that can be changed. The fields of one request run in order, in one transaction.'
  return new LazyObjectType('Mutation', description, () => mutationMakers(visible, types))
}

const writeKinds = ['insert', 'update', 'delete'] as const

function mutationMakers(visible: RoleVisibility, types: SchemaTypes): FieldMakers {
  // No two exposed relations share a name.
  const byName = new Map(visible.exposed.map((entity) => [entity.name, entity]))
  const makersOf = (entity: EntityFacts): ReadonlyMap<string, () => SchemaField> =>
    new Map(writeMakers(visible, entity, types))
  const calls = callMakers(visible, types, (fn) => fn.volatile)
  const findWrite = (name: string): (() => SchemaField) | undefined => {
    const base = writeKinds.map((kind) => baseOfField(kind, name)).find((found) => found !== undefined)
    const entity = byName.get(base ?? '')
    return entity === undefined ? undefined : makersOf(entity).get(name)
  }
  const changed = visible.manifest.updates === true ? visible.exposed : []
  const places = new Map(changed.map((entity, place) => [entity.name, place]))
  // What a function is called stays the function's, whoever may call it (spec/graphql.md 17.4).
  const called = once(() => new Set(visible.manifest.functions.filter((fn) => fn.volatile).map((fn) => fn.field)))
  const changesOf = (entity: EntityFacts): ReadonlyMap<string, () => SchemaField> =>
    new Map(changeMakersOf(visible, entity, types).toReversed())
  const findChange = (name: string): (() => SchemaField) | undefined =>
    [...new Set(basesOfChange(name).flatMap((base) => places.get(base) ?? []))]
      .sort((a, b) => a - b)
      .flatMap((place) => changed[place] ?? [])
      .map((entity) => changesOf(entity).get(name))
      .find((make) => make !== undefined && !called().has(name))
  return {
    find: (name) => findWrite(name) ?? calls.get(name) ?? findChange(name),
    names: () =>
      sorted([
        ...visible.exposed.flatMap((entity) => [...makersOf(entity).keys()]),
        ...calls.keys(),
        ...changed.flatMap((entity) => [...changesOf(entity).keys()].filter((name) => !called().has(name))),
      ]),
  }
}

const collectionField = (entity: EntityFacts, types: SchemaTypes): SchemaField =>
  field(
    nonNull(types.connection(entity)),
    { kind: 'collection', entity },
    `The rows of ${entity.name}, page by page.`,
    collectionArguments(entity, types),
  )

/**
 * spec/graphql.md, decision 5: every key whose columns all have a type that can be written as an argument. They need
 * not be readable: the read then fails as every read of such a relation does (spec/graphql.md 1.2).
 */
function keyColumns(visible: RoleVisibility, entity: EntityFacts): readonly Shown[] | null {
  const columns = entity.key.flatMap((name) => entity.columns.find((column) => column.column === name) ?? [])
  const shown = columns.flatMap((column): Shown[] => {
    const { field: name } = column
    if (name === null || !hasType(column) || !visible.seesType(column)) return []
    const { type } = column
    return type.kind === 'composite' || type.list ? [] : [{ name, type }]
  })
  // Two columns that come to one name cannot both be asked for.
  return new Set(shown.map(({ name }) => name)).size === entity.key.length ? shown : null
}

interface Shown {
  readonly name: string
  readonly type: ValueType
}

const lookupField = (entity: EntityFacts, { columns, facts }: KeyLookup, types: SchemaTypes): SchemaField =>
  byKeyField(
    entity,
    columns.map(({ field: name, type }) => ({ name, type })),
    types,
    facts,
  )

function byKeyField(entity: EntityFacts, key: readonly Shown[], types: SchemaTypes, by?: LookupFacts): SchemaField {
  const args = Object.fromEntries(
    key.map(({ name, type }) => [name, { type: nonNull(types.input(type)), description: `The row's ${name}.` }]),
  )
  const meaning = { kind: 'by-key', entity, args: Object.keys(args), ...(by && { by }) } as const
  return field(
    types.row(entity),
    meaning,
    `The row of ${entity.name} with this key; null when there is none that you may see.`,
    besideKey(entity, args),
  )
}

/** By field; the first of those that want it has it. */
const callMakers = (
  visible: RoleVisibility,
  types: SchemaTypes,
  wanted: (fn: FunctionFacts) => boolean,
): ReadonlyMap<string, () => SchemaField> => {
  const calls = visible.manifest.functions.filter((fn) => wanted(fn) && visible.seesFunction(fn))
  return new Map(calls.toReversed().map((fn) => [fn.field, () => callField(visible, fn, types)]))
}

function callField(visible: RoleVisibility, fn: FunctionFacts, types: SchemaTypes): SchemaField {
  const { type, args } = resultOf(visible, fn, types)
  return field(type, { kind: 'call', function: fn }, fn.description ?? `Calls ${fn.field}.`, args)
}
