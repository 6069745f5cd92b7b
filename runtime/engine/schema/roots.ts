import type { GraphQLObjectType } from 'graphql'
import type { EntityFacts, FunctionFacts, LookupFacts, ValueType } from '../../contract/manifest.ts'
import { baseOfField, lowerFirst, rootField, upperFirst } from '../../contract/name-parts.ts'
import { groupBy } from '../../lib/steps.ts'
import { once } from '../../lib/caches.ts'
import { isWatched, type RoleVisibility } from '../view.ts'
import { hasType } from '../visible.ts'
import { collectionArguments } from './collections.ts'
import { collectedBy, collectedInterfaces, interfaceCollectionField } from './interface-collections.ts'
import {
  LazyObjectType,
  type FieldMakers,
  besideKey,
  field,
  nonNull,
  type SchemaField,
  type SchemaTypes,
} from './types.ts'
import { functionResult } from './rows.ts'
import { scalars } from './scalars.ts'
import { insertMakers, writeMakers } from './writes.ts'

/**
 * The root types (spec/graphql.md 1.5). A field is found by its name, so that unused fields cost nothing; for one name,
 * relations come before functions, and earlier ones before later ones.
 */

/** Sorted by name in byte order; names are ASCII, so code units give the same order. */
const sortedNames = (names: readonly string[]): readonly string[] => [...new Set(names)].sort()

export const makeQuery = (visible: RoleVisibility, types: SchemaTypes): GraphQLObjectType =>
  new LazyObjectType('Query', 'Everything that can be read.', () => readMakers(visible, types, () => true, true))

/** Undefined if the role can watch nothing. */
export function makeSubscription(visible: RoleVisibility, types: SchemaTypes): GraphQLObjectType | undefined {
  const hasRows = visible.watchesRows()
  if (!hasRows && !visible.manifest.functions.some((fn) => isRead(fn) && isWatched(fn) && visible.seesFunction(fn)))
    return undefined
  const description = 'What can be watched: each answer that is another one than the last is sent.'
  return new LazyObjectType('Subscription', description, () => readMakers(visible, types, isWatched, hasRows))
}

type Readable = EntityFacts | FunctionFacts

/** Exposed relations with these names, by precedence: two may share a field, such as "Post" and "post". */
function exposedAs(visible: RoleVisibility, names: readonly string[]): readonly EntityFacts[] {
  const found = [...new Set(names)].flatMap((name) => {
    const type = visible.names.find(name)
    return type?.kind === 'entity' && type.part === 'row' && visible.exposes(type.entity) ? [type.entity] : []
  })
  const { entities } = visible.manifest
  return found.length < 2 ? found : found.toSorted((one, other) => entities.indexOf(one) - entities.indexOf(other))
}

const isRead = ({ volatile }: FunctionFacts): boolean => !volatile

/** @param isWanted whether it has fields here */
function readMakers(
  visible: RoleVisibility,
  types: SchemaTypes,
  isWanted: (readable: Readable) => boolean,
  hasNode: boolean,
): FieldMakers {
  const called = (names: readonly string[]): readonly EntityFacts[] =>
    exposedAs(visible, names).filter((entity) => entity.root && isWanted(entity))
  const named = (kind: 'collection' | 'byKey', field: string): readonly EntityFacts[] => {
    const base = baseOfField(kind, field)
    return base === undefined || base !== lowerFirst(base) ? [] : called([base, upperFirst(base)])
  }
  const rooted: Rooted = {
    entitiesNamed: called,
    entities: () => visible.exposed.filter((entity) => entity.root && isWanted(entity)),
  }
  const added = addedFields(
    visible,
    visible.additions.flatMap((one) => one.queryFields?.(visible, types, rooted) ?? []),
    isRead,
  )
  const calls = callsOf(visible, types, (fn) => isRead(fn) && isWanted(fn))
  const interfaces = interfaceCollections(visible, types, isWanted)
  return {
    find: (name) => {
      if (name === 'node' && hasNode) return () => nodeField(visible, types)
      const [collection] = named('collection', name)
      if (collection !== undefined) return () => collectionField(collection, types)
      for (const entity of named('byKey', name)) {
        const key = keyColumns(visible, entity)
        if (key !== null) return () => byKeyField(entity, key, types)
      }
      const call = calls.find(name)
      if (call !== undefined) return call
      return added.find(name) ?? interfaces.find(name)
    },
    names: () =>
      sortedNames([
        ...(hasNode ? ['node'] : []),
        ...visible.exposed
          .filter((entity) => entity.root && isWanted(entity))
          .flatMap((entity) => readNames(visible, entity)),
        ...calls.names(),
        ...added.names(),
        ...interfaces.names().filter((name) => interfaces.find(name) !== undefined),
      ]),
  }
}

/** The relations of a root type. */
interface Rooted {
  /** Those with root fields that have one of these names, by precedence. */
  readonly entitiesNamed: (names: readonly string[]) => readonly EntityFacts[]
  readonly entities: () => readonly EntityFacts[]
}

declare module '../additions.ts' {
  interface SchemaAddition {
    /** Further fields of Query and Subscription. Names of functions stay theirs for every caller. */
    readonly queryFields?: (visible: RoleVisibility, types: SchemaTypes, rooted: Rooted) => FieldMakers
    /** The same of Mutation. */
    readonly mutationFields?: (visible: RoleVisibility, types: SchemaTypes, rooted: Rooted) => FieldMakers
  }
}

/** Names of the functions of the root type stay theirs for every caller. */
function addedFields(
  { manifest }: RoleVisibility,
  all: readonly FieldMakers[],
  isOfRoot: (fn: FunctionFacts) => boolean,
): FieldMakers {
  const called = once(() => new Set(manifest.functions.filter(isOfRoot).map((fn) => fn.field)))
  const find: FieldMakers['find'] = (name) =>
    all.length === 0 || called().has(name)
      ? undefined
      : all.map((fields) => fields.find(name)).find((make) => make !== undefined)
  return { find, names: () => all.flatMap(({ names }) => names()).filter((name) => find(name) !== undefined) }
}

/** Names of functions stay theirs for every caller. */
function interfaceCollections(
  visible: RoleVisibility,
  types: SchemaTypes,
  isWanted: (readable: Readable) => boolean,
): FieldMakers {
  const fieldOf = (name: string): string => rootField('collection', name)
  const found = once(() =>
    groupBy(
      collectedInterfaces(visible).filter(
        (name) =>
          !visible.manifest.functions.some((fn) => isRead(fn) && fn.field === fieldOf(name)) &&
          collectedBy(visible, name).every(isWanted),
      ),
      fieldOf,
    ),
  )
  return {
    find: (name) => {
      const [first] = found().get(name) ?? []
      return first === undefined ? undefined : () => interfaceCollectionField(first, collectedBy(visible, first), types)
    },
    names: () => [...found().keys()],
  }
}

const readNames = (visible: RoleVisibility, entity: EntityFacts): readonly string[] => [
  rootField('collection', entity.name),
  ...(keyColumns(visible, entity) === null ? [] : [rootField('byKey', entity.name)]),
]

const nodeField = ({ manifest }: RoleVisibility, types: SchemaTypes): SchemaField =>
  field(types.node, { kind: 'node' }, 'Any row by its node id; null when there is none that you may see.', {
    nodeId: { type: nonNull(scalars.ID), description: 'The node id of the row.' },
    ...types.rowArguments(manifest),
  })

/** Undefined if the role can change nothing: such a type would have no field. */
export function makeMutation(visible: RoleVisibility, types: SchemaTypes): GraphQLObjectType | undefined {
  if (!visible.writesRows() && !visible.manifest.functions.some((fn) => fn.volatile && visible.seesFunction(fn)))
    return undefined
  const description = 'Everything that can be changed. The fields of one request run in order, in one transaction.'
  return new LazyObjectType('Mutation', description, () => mutationMakers(visible, types))
}

const writeKinds = ['insert', 'update', 'delete'] as const

function mutationMakers(visible: RoleVisibility, types: SchemaTypes): FieldMakers {
  const makersOf = (entity: EntityFacts): ReadonlyMap<string, () => SchemaField> =>
    new Map(writeMakers(visible, entity, types))
  const insertsAlone = once(() => new Map(visible.insertOnly.flatMap((entity) => insertMakers(visible, entity, types))))
  const calls = callsOf(visible, types, (fn) => fn.volatile)
  const findWrite = (name: string): (() => SchemaField) | undefined => {
    const base = writeKinds.map((kind) => baseOfField(kind, name)).find((found) => found !== undefined)
    const [entity] = base === undefined ? [] : exposedAs(visible, [base])
    return entity === undefined ? insertsAlone().get(name) : makersOf(entity).get(name)
  }
  const rooted: Rooted = { entitiesNamed: (names) => exposedAs(visible, names), entities: () => visible.exposed }
  const added = addedFields(
    visible,
    visible.additions.flatMap((one) => one.mutationFields?.(visible, types, rooted) ?? []),
    (fn) => fn.volatile,
  )
  return {
    find: (name) => findWrite(name) ?? calls.find(name) ?? added.find(name),
    names: () =>
      sortedNames([
        ...visible.exposed.flatMap((entity) => [...makersOf(entity).keys()]),
        ...insertsAlone().keys(),
        ...calls.names(),
        ...added.names(),
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
  // Two columns with one argument name cannot both be given.
  return new Set(shown.map(({ name }) => name)).size === entity.key.length ? shown : null
}

interface Shown {
  readonly name: string
  readonly type: ValueType
}

export function byKeyField(
  entity: EntityFacts,
  key: readonly Shown[],
  types: SchemaTypes,
  by?: LookupFacts,
): SchemaField {
  const args = Object.fromEntries(
    key.map(({ name, type }) => [name, { type: nonNull(types.input(type)), description: `The row's ${name}.` }]),
  )
  const meaning = { kind: 'by-key', entity, args: Object.keys(args), ...(by && { by }) } as const
  return field(
    types.row(entity),
    meaning,
    `The row of ${entity.name} with this key; null when there is none that you may see.`,
    besideKey(entity, args, types),
  )
}

/** By field; the first of a name is used. */
function callsOf(visible: RoleVisibility, types: SchemaTypes, wanted: (fn: FunctionFacts) => boolean): FieldMakers {
  const byField = once(() => groupBy(visible.manifest.functions.filter(wanted), (fn) => fn.field))
  return {
    find: (name) => {
      const fn = byField().get(name)?.find(visible.seesFunction)
      return fn && (() => callField(visible, fn, types))
    },
    names: () => [...byField()].flatMap(([name, all]) => (all.some(visible.seesFunction) ? [name] : [])),
  }
}

function callField(visible: RoleVisibility, fn: FunctionFacts, types: SchemaTypes): SchemaField {
  const { type, args } = functionResult(visible, fn, types)
  return field(type, { kind: 'call', function: fn }, fn.description ?? `Calls ${fn.field}.`, args)
}
