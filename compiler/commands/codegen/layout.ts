import {
  getNamedType,
  isAbstractType,
  isEnumType,
  isInputObjectType,
  isIntrospectionType,
  isObjectType,
  type GraphQLAbstractType,
  type GraphQLEnumType,
  type GraphQLInputObjectType,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
} from 'graphql'
import { partNames } from '../../additions/table.ts'
import { lowerFirst, type NamePart } from '../../../runtime/contract/name-parts.ts'
import { groupBy } from '../../../runtime/lib/steps.ts'
import { createNamer } from './identifiers.ts'
import type { Readings } from './source.ts'

/**
 * The files of a generated client: a table with all types named after it has its own file, an enum or a composite too,
 * and the types of every schema are shared. Only the schema is read, so that it may come from anywhere.
 *
 * Declarations differ from scripts in one respect: those for reading are in one file for all tables. Each refers to the
 * others, so that a type checker must read all of them in any case, and it reads one file faster than hundreds.
 */
export interface Layout {
  readonly schema: GraphQLSchema
  readonly readings: Readings
  readonly modules: readonly Module[]
  /** The module that declares a type; undefined for scalars and for types of the client library. */
  readonly moduleOf: (type: string) => Module | undefined
  readonly identifier: (type: string) => string
  /** The row type of which a type is a part; undefined for inputs, for rows, and for others. */
  readonly rowOf: (type: string) => RowPart | undefined
  /** The same for the collection of an interface, whose rows have several types. */
  readonly rowsOf: (type: string) => RowsPart | undefined
}

export interface ClientFile {
  /** Path without an extension, from the client's folder. */
  readonly path: string
}

export interface Module extends ClientFile {
  readonly types: readonly DeclaredType[]
  readonly table: ClientTable | null
}

export interface ClientTable {
  readonly row: GraphQLObjectType
  /** Name of the table's client. */
  readonly name: string
  readonly page: string
  readonly methods: string
}

export type DeclaredType = GraphQLObjectType | GraphQLInputObjectType | GraphQLEnumType

interface RowPart {
  /** `written`: answers of mutations; `figures`: sums, means, minima and maxima of columns. */
  readonly kind: 'connection' | 'edge' | 'written' | 'figures'
  readonly row: GraphQLObjectType
}

interface RowsPart {
  readonly kind: 'connection' | 'edge'
  /** In the order of their names. */
  readonly of: readonly GraphQLObjectType[]
}

const sharedPath = 'shared'

/** Declares the types for reading all tables. */
export const rowsFile: ClientFile = { path: 'rows' }

export function layOut(schema: GraphQLSchema, readings: Readings = {}): Layout {
  const types = Object.values(schema.getTypeMap()).sort(byTypeName)
  const declared = types.filter(isDeclared(schema))
  const [rowParts, rowsParts] = [findRowParts(declared), findRowsParts(schema, declared)]
  const rows = new Set([...rowParts.values()].map(({ row }) => row))
  const isRow = (type: GraphQLObjectType): boolean => rows.has(type) || type.getInterfaces().length > 0
  const heads = headsOf(declared, isRow)
  const groups = groupBy(declared, ({ name }) => (heads.has(name) ? name : headNameOf(name, heads)))
  const identify = createNamer(['sdk'])
  const identifiers = new Map(declared.map(({ name }) => [name, identify(name)]))
  const modules = makeModules(heads, groups, identifiers, isRow)
  const owner = new Map(modules.flatMap((module) => module.types.map(({ name }) => [name, module] as const)))
  return {
    schema,
    readings,
    modules,
    moduleOf: (type) => owner.get(type),
    identifier: (type) => identifiers.get(type) ?? type,
    rowOf: (type) => rowParts.get(type),
    rowsOf: (type) => rowsParts.get(type),
  }
}

/** Parts of a table's API only for writing. */
const writes: readonly NamePart[] = ['insertInput', 'updateInput', ...partNames.writing]

export const declaringFile = (module: Module, type: string): ClientFile =>
  module.table === null || writes.some((part) => type === `${module.table?.row.name}${partNames.suffixes[part]}`)
    ? module
    : rowsFile

const byTypeName = (left: GraphQLNamedType, right: GraphQLNamedType): number => (left.name < right.name ? -1 : 1)

const isDeclared =
  (schema: GraphQLSchema) =>
  (type: GraphQLNamedType): type is DeclaredType =>
    (isObjectType(type) || isInputObjectType(type) || isEnumType(type)) &&
    !isIntrospectionType(type) &&
    type !== schema.getQueryType() &&
    type !== schema.getMutationType() &&
    type !== schema.getSubscriptionType() &&
    type.name !== 'PageInfo'

/** A connection has edges with nodes, a mutation's answer has records; rows have no lists of objects. */
function findRowParts(types: readonly DeclaredType[]): ReadonlyMap<string, RowPart> {
  const found = new Map<string, RowPart>()
  for (const type of types.filter(isObjectType)) {
    const edge = objectIn(type, 'edges')
    const row = edge && objectIn(edge, 'node')
    if (edge !== undefined && row !== undefined) {
      found.set(type.name, { kind: 'connection', row })
      if (isPlainEdge(edge)) found.set(edge.name, { kind: 'edge', row })
    }
    if (row !== undefined) for (const figure of figuresOf(type)) found.set(figure.name, { kind: 'figures', row })
    const record = 'affectedCount' in type.getFields() ? objectIn(type, 'records') : undefined
    if (record !== undefined) found.set(type.name, { kind: 'written', row: record })
  }
  return found
}

function findRowsParts(schema: GraphQLSchema, types: readonly DeclaredType[]): ReadonlyMap<string, RowsPart> {
  return new Map(
    types.filter(isObjectType).flatMap((type): readonly (readonly [string, RowsPart])[] => {
      const edge = objectIn(type, 'edges')
      const node = getNamedType(edge?.getFields()['node']?.type)
      if (edge === undefined || !isAbstractType(node)) return []
      const of = typesOf(schema, node)
      return [
        [type.name, { kind: 'connection', of }],
        [edge.name, { kind: 'edge', of }],
      ]
    }),
  )
}

export const typesOf = (schema: GraphQLSchema, type: GraphQLAbstractType): readonly GraphQLObjectType[] =>
  [...schema.getPossibleTypes(type)].sort(byTypeName)

/** Other edges have intermediate rows (spec/graphql.md 17.7), and are ordinary types. */
const isPlainEdge = (edge: GraphQLObjectType): boolean =>
  Object.keys(edge.getFields()).every((name) => name === 'cursor' || name === 'node')

/** The parts of a connection: the type of its rows, and that of its edges if these have more than the library's. */
export function madeOf({ rowOf }: Layout, connection: GraphQLObjectType, { row }: RowPart): readonly string[] {
  const edge = objectIn(connection, 'edges')
  return [row.name, ...(edge === undefined || rowOf(edge.name) !== undefined ? [] : [edge.name])]
}

const figuresOf = (connection: GraphQLObjectType): readonly GraphQLObjectType[] =>
  ['aggregate', 'groups']
    .flatMap((name) => objectIn(connection, name) ?? [])
    .flatMap((whole) => ['sum', 'avg', 'min', 'max'].flatMap((name) => objectIn(whole, name) ?? []))

function objectIn(type: GraphQLObjectType, field: string): GraphQLObjectType | undefined {
  const found = getNamedType(type.getFields()[field]?.type)
  return isObjectType(found) ? found : undefined
}

/** Types after which others are named. */
function headsOf(
  types: readonly DeclaredType[],
  isRow: (type: GraphQLObjectType) => boolean,
): ReadonlyMap<string, DeclaredType> {
  const rows = types.filter(isObjectType).filter(isRow)
  const heads = new Map<string, DeclaredType>(rows.map((type) => [type.name, type]))
  const names = new Set(types.map(({ name }) => name))
  // Enums and composites: values with their own filters.
  const values = types.filter((type) => !isInputObjectType(type) && names.has(`${type.name}Filter`))
  const others = values.filter(({ name }) => !heads.has(name) && headNameOf(name, heads) === undefined)
  return new Map([...heads, ...others.map((type) => [type.name, type] as const)])
}

const endings = [...Object.values(partNames.suffixes), 'ListFilter']

/** `PostEdge` -> `Post`; names are unambiguous (spec/graphql.md 2.2). */
const headNameOf = (name: string, heads: ReadonlyMap<string, DeclaredType>): string | undefined =>
  endings
    .flatMap((ending) => (name.endsWith(ending) ? [name.slice(0, name.length - ending.length)] : []))
    .find((base) => heads.has(base))

function makeModules(
  heads: ReadonlyMap<string, DeclaredType>,
  groups: ReadonlyMap<string | undefined, readonly DeclaredType[]>,
  identifiers: ReadonlyMap<string, string>,
  isRow: (type: GraphQLObjectType) => boolean,
): readonly Module[] {
  const further = createNamer(identifiers.values())
  const client = createNamer(['sdk', 'createDb'])
  // Some file systems ignore case, and some reserve a few names for devices.
  const file = createNamer(['con', 'prn', 'aux', 'nul'], (name) => name.toLowerCase())
  const tableOf = (row: GraphQLObjectType): ClientTable => {
    const name = client(lowerFirst(row.name))
    return { row, name, page: further(`${row.name}Page`), methods: further(`${row.name}Table`) }
  }
  const inOrder = [...heads.values()].sort(byTypeName)
  const own = inOrder.map((head): Module => {
    const types = groups.get(head.name) ?? []
    return isObjectType(head) && isRow(head)
      ? { path: `tables/${file(head.name)}`, types, table: tableOf(head) }
      : { path: `types/${file(head.name)}`, types, table: null }
  })
  return [...own, { path: sharedPath, types: groups.get(undefined) ?? [], table: null }]
}
