import {
  type GraphQLInputObjectType,
  GraphQLEnumType,
  GraphQLInterfaceType,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  type GraphQLFieldConfig,
  type GraphQLFieldConfigArgumentMap,
  type GraphQLFieldConfigMap,
  type GraphQLInputType,
  type GraphQLNamedType,
  type GraphQLOutputType,
  type GraphQLField,
  type GraphQLFieldMap,
} from 'graphql'
import type {
  ColumnFacts,
  CompositeFacts,
  Deprecable,
  EntityFacts,
  EnumFacts,
  Manifest,
  ValueType,
} from '../../contract/manifest.ts'
import { enumOperators } from '../../sql/operators.ts'
import { once as late } from '../../lib/caches.ts'
import { groupBy } from '../../lib/steps.ts'
import { withMeaning, type FieldMeaning, type WrapperMember } from '../meaning.ts'
import { parts, type AddedParts, type CorePart, type NamePart } from '../../contract/name-parts.ts'
import type { InterfaceTypeName } from '../../contract/type-names.ts'
import type { RowArguments } from '../additions.ts'
import { defaultFilterOf, defaultOrderOf } from '../visible.ts'
import type { RoleVisibility } from '../view.ts'
import { comparison, listComparison, scalars } from './scalars.ts'
import { formFilters } from './form-filters.ts'

/** The GraphQL types of one role. Each is made on first use, and its fields when they are first read. */
export interface SchemaTypes {
  readonly row: (entity: EntityFacts) => GraphQLObjectType
  readonly part: (entity: EntityFacts, part: NamePart) => GraphQLNamedType | undefined
  readonly enum: (item: EnumFacts) => GraphQLEnumType
  readonly enumFilter: (item: EnumFacts) => GraphQLInputObjectType
  readonly enumListFilter: (item: EnumFacts) => GraphQLInputObjectType
  readonly composite: (item: CompositeFacts) => GraphQLObjectType
  readonly compositeFilter: (item: CompositeFacts) => GraphQLInputObjectType
  readonly forms: () => ReturnType<typeof formFilters>
  readonly output: (type: ValueType) => GraphQLOutputType
  readonly input: (type: ValueType) => GraphQLInputType
  readonly connection: (entity: EntityFacts) => GraphQLObjectType
  /** The default of `orderBy`; undefined: none. */
  readonly defaultOrder: (entity: EntityFacts) => readonly Readonly<Record<string, string>>[] | undefined
  /** The default of `filter`; undefined: none. */
  readonly defaultFilter: (entity: EntityFacts) => Readonly<Record<string, unknown>> | undefined
  /** Whether inputs of a relation that take exactly one member say so. */
  readonly alternatives: (entity: EntityFacts) => { readonly isOneOf?: true }
  /** Further arguments of fields that find rows of a relation, or any row by its node id. */
  readonly rowArguments: (of: EntityFacts | Manifest) => RowArguments
  /** Further arguments of fields with a collection of the relation. */
  readonly collectionArguments: (entity: EntityFacts) => GraphQLFieldConfigArgumentMap
  readonly connectionFields: (entity: EntityFacts) => Fields
  readonly insertArguments: (entity: EntityFacts) => GraphQLFieldConfigArgumentMap
  readonly node: GraphQLInterfaceType
  readonly interface: (name: string) => GraphQLInterfaceType
  /** The types of its collection; undefined: none. */
  readonly interfacePart: (name: string, part: InterfaceTypeName) => GraphQLNamedType | undefined
  readonly pageInfo: GraphQLObjectType
}

export type SchemaField = GraphQLFieldConfig<unknown, unknown>
export type Fields = GraphQLFieldConfigMap<unknown, unknown>
export type MakePart = (entity: EntityFacts, types: SchemaTypes) => GraphQLNamedType | undefined

declare module '../additions.ts' {
  interface SchemaAddition {
    /** Makes its types of relations. */
    readonly makers?: (visible: RoleVisibility) => Readonly<Partial<Record<keyof AddedParts, MakePart>>>
    /** Further arguments of fields with a collection of the relation. */
    readonly collectionArguments?: (entity: EntityFacts, types: SchemaTypes) => GraphQLFieldConfigArgumentMap
    /** Further arguments of inserts into the relation, and members of the objects with related rows to insert. */
    readonly insertArguments?: (entity: EntityFacts, types: SchemaTypes) => GraphQLFieldConfigArgumentMap
    readonly connectionFields?: (entity: EntityFacts, types: SchemaTypes) => Fields
  }
}

export const field = (
  type: GraphQLOutputType,
  meaning: FieldMeaning,
  description: string | null,
  args: SchemaField['args'] = {},
): SchemaField => ({ type, description, args, ...deprecated(meaning), extensions: withMeaning(meaning) })

/** Fields of a relation and of a function are deprecated with it (spec/graphql.md 17.5). */
function deprecated(meaning: FieldMeaning): { readonly deprecationReason?: string } {
  const owner: Deprecable = 'entity' in meaning ? meaning.entity : 'function' in meaning ? meaning.function : {}
  return owner.deprecated === undefined ? {} : { deprecationReason: owner.deprecated }
}

/** The fields of a type that wraps rows: each is the member of its name. */
export const wrapperFields = (
  given: Readonly<Partial<Record<WrapperMember, readonly [type: GraphQLOutputType, description: string]>>>,
): Fields =>
  Object.fromEntries(
    Object.entries(given).map(([name, [type, description]]) => [
      name,
      field(type, { kind: 'member', member: name as WrapperMember }, description),
    ]),
  )

export const nonNull = <T extends ConstructorParameters<typeof GraphQLNonNull>[0]>(type: T): GraphQLNonNull<T> =>
  new GraphQLNonNull(type)
/** The arguments of a field that finds rows by a key, whose columns keep their names. */
export const besideKey = (
  entity: EntityFacts,
  key: GraphQLFieldConfigArgumentMap,
  types: SchemaTypes,
): GraphQLFieldConfigArgumentMap => ({ ...key, ...types.rowArguments(entity), ...key })

export const listOf = (type: GraphQLOutputType): GraphQLOutputType => nonNull(new GraphQLList(nonNull(type)))

/** Without a prototype: graphql-js asks for every field of the type, possibly one called "constructor". */
const defaults = <T>(entries: readonly (readonly [name: string, value: T])[]): Readonly<Record<string, T>> =>
  Object.assign(Object.create(null), Object.fromEntries(entries))

function defaultFilterIn(visible: RoleVisibility, entity: EntityFacts): ReturnType<SchemaTypes['defaultFilter']> {
  const byName = groupBy(defaultFilterOf(visible, entity), ({ field: name }) => name)
  const filters = [...byName].map(
    ([name, all]) => [name, defaults(all.map((one) => [one.operator, one.value]))] as const,
  )
  return filters.length === 0 ? undefined : defaults(filters)
}

interface EnumTypes {
  readonly type: GraphQLEnumType
  readonly filter: GraphQLInputObjectType
  readonly listFilter: GraphQLInputObjectType
}

function makeEnumTypes(item: EnumFacts): EnumTypes {
  const { name } = item
  const type = new GraphQLEnumType({
    name: item.name,
    description: `One of the values of the database type ${item.name}.`,
    values: Object.fromEntries(
      item.values.map(({ name, label, deprecated: reason }) => [
        name,
        { value: label, ...(reason !== undefined && { deprecationReason: reason }) },
      ]),
    ),
  })
  return {
    type,
    filter: comparison(`${name}Filter`, `a value of type ${name}`, enumOperators, type),
    listFilter: listComparison(name, type),
  }
}

const pageInfo = new GraphQLObjectType({
  name: 'PageInfo',
  description: 'Where a page stands in its collection.',
  fields: wrapperFields({
    endCursor: [scalars.String, 'Cursor of the last row of the page; null when the page is empty.'],
    hasNextPage: [nonNull(scalars.Boolean), 'Whether rows follow this page.'],
    hasPreviousPage: [nonNull(scalars.Boolean), 'Whether rows come before this page.'],
    startCursor: [scalars.String, 'Cursor of the first row of the page; null when the page is empty.'],
  }),
})

const node = new GraphQLInterfaceType({
  name: 'Node',
  description: 'A row that can be fetched by its node id alone.',
  fields: {
    nodeId: field(nonNull(scalars.ID), { kind: 'node-id' }, 'Identifies the row among all rows of all tables.'),
  },
})

export interface CompositeMakers {
  readonly object: (item: CompositeFacts, types: SchemaTypes) => GraphQLObjectType
  readonly filter: (item: CompositeFacts, types: SchemaTypes) => GraphQLInputObjectType
}

/** Creates the types of a role; `makers` make the parts of a relation's types. */
export function createTypes(
  visible: RoleVisibility,
  makers: Readonly<Partial<Record<NamePart, MakePart>>>,
  composites: () => CompositeMakers,
  makeInterface: (name: string, types: SchemaTypes) => GraphQLInterfaceType,
  makeInterfacePart: (name: string, part: InterfaceTypeName, types: SchemaTypes) => GraphQLNamedType | undefined,
): SchemaTypes {
  const { additions } = visible
  const made = new Map<EntityFacts, Partial<Record<NamePart, GraphQLNamedType | undefined>>>()
  const enums = new Map<EnumFacts, EnumTypes>()

  const part = (entity: EntityFacts, name: NamePart): GraphQLNamedType | undefined => {
    let known = made.get(entity)
    if (known === undefined) made.set(entity, (known = {}))
    if (!(name in known)) known[name] = makers[name]?.(entity, types)
    return known[name]
  }
  const typesOf = (item: EnumFacts): EnumTypes => once(enums, item, makeEnumTypes)
  const objects = new Map<CompositeFacts, GraphQLObjectType>()
  const filters = new Map<CompositeFacts, GraphQLInputObjectType>()
  const interfaces = new Map<string, GraphQLInterfaceType>()
  const interfaceParts = new Map<string, GraphQLNamedType | undefined>()
  const once = <K, T>(made: Map<K, T>, item: K, make: (item: K, types: SchemaTypes) => T): T => {
    let known = made.get(item)
    if (known === undefined) made.set(item, (known = make(item, types)))
    return known
  }
  const output = (type: ValueType): GraphQLOutputType => {
    const item = type.kind === 'composite' ? visible.composite(type.id) : undefined
    return item === undefined ? value(type) : types.composite(item)
  }
  const leaf = (type: ValueType) => {
    if (type.kind === 'composite') return scalars.Opaque
    if (type.kind === 'scalar') return scalars[type.name]
    const item = visible.enum(type.id)
    return item === undefined || !visible.names.ownsEnum(item) ? scalars.Opaque : typesOf(item).type
  }
  const value = (type: ValueType) => (type.list ? new GraphQLList(leaf(type)) : leaf(type))

  const types: SchemaTypes = {
    row: (entity) => part(entity, 'row') as GraphQLObjectType,
    connection: (entity) => part(entity, 'connection') as GraphQLObjectType,
    defaultOrder: (entity) => {
      const order = defaultOrderOf(visible, entity)
      return order.length === 0 ? undefined : order.map(({ field: name, direction }) => defaults([[name, direction]]))
    },
    defaultFilter: (entity) => defaultFilterIn(visible, entity),
    alternatives: (entity) => (additions.some((one) => one.marksAlternatives?.(entity)) ? { isOneOf: true } : {}),
    rowArguments: (of) => Object.assign({}, ...additions.map((one) => one.rowArguments?.(of))),
    collectionArguments: (entity) =>
      Object.assign({}, ...additions.map((one) => one.collectionArguments?.(entity, types))),
    insertArguments: (entity) => Object.assign({}, ...additions.map((one) => one.insertArguments?.(entity, types))),
    connectionFields: (entity) => Object.assign({}, ...additions.map((one) => one.connectionFields?.(entity, types))),
    part,
    enum: (item) => typesOf(item).type,
    enumFilter: (item) => typesOf(item).filter,
    enumListFilter: (item) => typesOf(item).listFilter,
    composite: (item) => once(objects, item, composites().object),
    compositeFilter: (item) => once(filters, item, composites().filter),
    forms: late(() => formFilters(visible)),
    output,
    input: value,
    node,
    interface: (name) => once(interfaces, name, makeInterface),
    interfacePart: (name, part) => once(interfaceParts, name + parts[part], () => makeInterfacePart(name, part, types)),
    pageInfo,
  }
  return types
}

export const typeName = (entity: EntityFacts, part: CorePart): string => entity.name + parts[part]

/** A column's field name and type; only for columns that the role sees or may write. */
export function shown(column: ColumnFacts): { readonly name: string; readonly type: ValueType } {
  if (column.field === null || column.type === null) throw new Error(`column ${column.column} has no field`)
  return { name: column.field, type: column.type }
}

/** Makers of single fields; a field is made on first use. */
export interface FieldMakers {
  readonly find: (name: string) => (() => SchemaField) | undefined
  /** The names of all fields, in display order. */
  readonly names: () => readonly string[]
}

/**
 * An object type whose fields are made one by one. graphql-js makes all fields of a type together, which for the roots
 * of a schema with thousands of relations, and for a table that hundreds refer to, takes longer than answering.
 */
export class LazyObjectType extends GraphQLObjectType {
  readonly #fields: () => LazyFields

  constructor(
    name: string,
    description: string,
    makers: () => FieldMakers,
    interfaces: () => readonly GraphQLInterfaceType[] = () => [],
  ) {
    super({ name, description, interfaces, fields: {} })
    this.#fields = lazyFields(name, makers)
  }

  override getFields(): LazyFields {
    return this.#fields()
  }
}

type LazyFields = GraphQLFieldMap<unknown, unknown>
type Made = GraphQLField<unknown, unknown>

/**
 * Behaves like a plain object without prototype that holds every field, and becomes one, with the same fields, on
 * enumeration.
 */
function lazyFields(type: string, makers: () => FieldMakers): () => LazyFields {
  let known: FieldMakers | undefined
  const all = (): FieldMakers => (known ??= makers())
  const made = new Map<string | symbol, Made>()
  let whole: LazyFields | undefined
  const make = (missing: Readonly<Record<string, SchemaField>>): void => {
    for (const field of Object.values(new GraphQLObjectType({ name: type, fields: missing }).getFields()))
      made.set(field.name, field)
  }
  const find = (name: string | symbol): Made | undefined => {
    const before = made.get(name)
    if (before !== undefined || typeof name === 'symbol') return before
    const maker = all().find(name)
    if (maker === undefined) return undefined
    make({ [name]: maker() })
    return made.get(name)
  }
  const makeWhole = (): LazyFields => {
    const { names, find: makerOf } = all()
    const missing = names().flatMap((name) => {
      const maker = made.has(name) ? undefined : makerOf(name)
      return maker === undefined ? [] : [[name, maker()] as const]
    })
    make(Object.fromEntries(missing))
    const fields = Object.create(null) as LazyFields
    for (const name of names()) {
      const field = made.get(name)
      if (field !== undefined) fields[name] = field
    }
    return fields
  }
  const lazy = new Proxy(Object.create(null) as LazyFields, {
    get: (_, name) => find(name),
    has: (_, name) => typeof name === 'string' && all().find(name) !== undefined,
    ownKeys: () => Object.keys((whole ??= makeWhole())),
    getOwnPropertyDescriptor: (_, name) => {
      const value = find(name)
      return value && { value, enumerable: true, configurable: true, writable: false }
    },
  })
  return () => whole ?? lazy
}
