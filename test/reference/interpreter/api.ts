import type { GroupFigure } from './aggregate.ts'
import {
  readableColumns,
  isSearched,
  changeable,
  operatorColumns,
  filterColumns,
  ordersOf,
  columnField,
} from './api-columns.ts'
import type { Api, ApiTable, RelationField, RowField, RootField } from './api-types.ts'
import { seesMark } from './deleted.ts'
import { accessOf } from './access.ts'
import { collectedBy } from './collected-api.ts'
import { comparable } from './compared.ts'
import {
  forwardName,
  isAlwaysThere,
  isGranted,
  isReadable,
  isUnique,
  linksOf,
  reverseName,
  typeOf,
  type Links,
} from './links.ts'
import { isEnumName, isName, lowerFirst } from './names.ts'
import { addCall, addComputed, byName, isFieldName } from './function-fields.ts'
import { pathsOf, unionsOf, type LinkedPath, type Sight } from './linked-paths.ts'
import { addChanges, addCollected, addInsert, addLookups, addRootFields } from './root-fields.ts'
import { abstractTypes, interfacesOf } from './interfaces.ts'
import { aggregatesOf, compareText, isOrderable, operatorsOf } from './types.ts'
import {
  additionsOf,
  grantsOf,
  hasAddition,
  keyOf,
  schemaOf,
  tableNamed,
  type ColumnSketch,
  type PresetSketch,
  type Grants,
  type Role,
  type TableSketch,
  type World,
  uniqueKeysOf,
} from './world.ts'

/** The scalars that a schema has with their filters. */
export const filteredScalars = [
  'ID',
  'Int',
  'Float',
  'String',
  'Boolean',
  'Date',
  'Time',
  'Datetime',
  'BigInt',
  'UUID',
  'BigFloat',
  'Opaque',
]

const builtIn: ReadonlySet<string> = new Set([
  ...filteredScalars,
  ...filteredScalars.map((name) => `${name}Filter`),
  'JSON',
  'Cursor',
  'Query',
  'Mutation',
  'Node',
  'PageInfo',
  'FilterIs',
  'OrderByDirection',
])

const apis = new WeakMap<World, Map<Role, Api>>()

/** The schema of a role; made once per world, which is immutable. */
export function apiOf(world: World, role: Role): Api {
  const known = apis.get(world) ?? new Map<Role, Api>()
  apis.set(world, known)
  const api = known.get(role) ?? makeApi(world, role)
  known.set(role, api)
  return api
}

function makeApi(world: World, role: Role): Api {
  const { exposed, insertOnly } = tablesFor(world, role)
  const links = linksOf(world, role, exposed)
  const tables = exposed.map((sketch) => withoutHidden(world, apiTable(world, role, exposed, links, sketch)))
  const query = new Map<string, RootField>([['node', { kind: 'node' }]])
  const mutation = new Map<string, RootField>()
  for (const table of tables) addRootFields(query, mutation, table)
  for (const sketch of insertOnly) {
    const table = apiTable(world, role, exposed, links, sketch)
    addInsert(mutation, { ...table, fields: new Map(), conflicts: new Map() })
  }
  for (const fn of byName(world.functions)) addCall(world, role, exposed, fn.volatile ? mutation : query, fn)
  for (const table of tables) {
    addLookups(world, query, table)
    addChanges(world, mutation, table)
  }
  const types = new Set(tables.map(({ type }) => type))
  const isTaken = (name: string): boolean => builtIn.has(name) || types.has(name)
  const interfaces = interfacesOf(world, tables, isTaken)
  const fields = new Map([...interfaces].map(([name, one]) => [name, shown(world, name, one.fields)]))
  const collected = collectedBy(world, tables, fields, (name) => isTaken(name) || interfaces.has(name))
  addCollected(world, query, collected)
  return {
    tables,
    collected,
    query: shown(world, 'Query', query),
    mutation: shown(world, 'Mutation', mutation),
    interfaces: fields,
    abstract: new Map([
      ...abstractTypes(tables),
      ...[...interfaces].map(([name, { types }]) => [name, types] as const),
    ]),
  }
}

const shown = <T>({ hidden = [] }: World, type: string, fields: ReadonlyMap<string, T>): ReadonlyMap<string, T> =>
  hidden.length === 0 ? fields : new Map([...fields].filter(([name]) => !hidden.includes(`${type}.${name}`)))

const withoutHidden = (world: World, table: ApiTable): ApiTable => ({
  ...table,
  fields: shown(world, table.type, table.fields),
  columns: shown(world, table.type, table.columns),
  filters: shown(world, table.type, table.filters),
  filterRelations: shown(world, table.type, table.filterRelations),
  compared: shown(world, table.type, table.compared),
  orders: shown(world, table.type, table.orders),
  orderRelations: shown(world, table.type, table.orderRelations),
  between: shown(world, `${table.type}Edge`, table.between),
  ranks: shown(world, table.type, table.ranks),
  distinct: shown(world, table.type, table.distinct),
  figures: new Map([...table.figures].map(([name, columns]) => [name, shown(world, table.type, columns)])),
  aggregates: new Map([...table.aggregates].map(([name, columns]) => [name, shown(world, table.type, columns)])),
  groupRelations: shown(world, table.type, table.groupRelations),
})

interface TablesFor {
  readonly exposed: readonly TableSketch[]
  /** The relations with inserts only. */
  readonly insertOnly: readonly TableSketch[]
}

/**
 * Relations that a role may use (spec/graphql.md 1.2); the first in byte order keeps a contested name, readable ones
 * before others, built-in names are never given (spec/graphql.md 2.4).
 */
function tablesFor(world: World, role: Role): TablesFor {
  const taken = new Set(builtIn)
  const all = [...world.tables].sort((a, b) => compareText(a.name, b.name))
  const claim = (tables: readonly TableSketch[]): readonly TableSketch[] =>
    tables.filter((table) => {
      const name = typeOf(world, table)
      if (!isName(name) || table.primaryKey.length === 0 || taken.has(name)) return false
      taken.add(name)
      return true
    })
  const isRead = (table: TableSketch): boolean => grantsOf(table, role).select.length > 0 && seesMark(table, role)
  return { exposed: claim(all.filter(isRead)), insertOnly: claim(all.filter((table) => !isRead(table))) }
}

function apiTable(
  world: World,
  role: Role,
  exposed: readonly TableSketch[],
  links: Links,
  sketch: TableSketch,
): ApiTable {
  const grants = grantsOf(sketch, role)
  const named = (columns: readonly ColumnSketch[]): ReadonlyMap<string, ColumnSketch> =>
    new Map(columns.flatMap((column) => columnField(world, sketch, column).map((field) => [field, column] as const)))
  const access = accessOf(sketch, role)
  const readable = readableColumns(sketch, role)
  // Composites are not in inputs (spec/graphql.md 17).
  const writable = sketch.columns.filter(
    ({ name, fallback, type }) =>
      fallback.kind !== 'identity' && type.base !== 'composite' && !access.withheld.includes(name),
  )
  const columns = named(readable)
  const pick = (wanted: (column: ColumnSketch) => boolean): ReadonlyMap<string, ColumnSketch> =>
    new Map([...columns].filter(([, column]) => wanted(column)))
  const figureNames = ['sum', 'avg', 'min', 'max'] as const
  const figured = new Map(
    figureNames.map((name) => [name, pick((column) => aggregatesOf(column.type).includes(name))] as const),
  )
  const inserts = named(writable.filter((column) => isGranted(grants.insert, column.name)))
  const presets = presetsOf(access, grants, 'insert')
  const givenByInserts = new Set([...[...inserts.values()].map(({ name }) => name), ...presets.keys()])
  const flags = pick(({ type }) => type.base === 'bool' && !type.list)
  const fields = rowFields(world, role, exposed, links, sketch, columns)
  const orders = ordersOf(world, role, sketch)
  const on = additionsOf(world, sketch)
  const filters = new Map(filterColumns(world, role, sketch))
  const searched = [...columns].filter(([, column]) => on.search === true && isSearched(column))
  if (world.functionShapes === true) addComputedFilters(world, sketch, fields, filters)
  const filterRelations =
    on.relationFilters === true
      ? relationsBut(fields, [...filters.keys(), 'nodeId', 'and', 'or', 'not'])
      : new Map<string, RelationField>()
  const isCompared = on.columnFilters === true && !filters.has('columns') && !filterRelations.has('columns')
  const compared = pick((column) => operatorsOf(column.type, on).length > 0 && isOrderable(column.type))
  const orderRelations = hasAddition(world, sketch, 'orderByRelated')
    ? new Map(
        [...relationsBut(fields, [...orders.keys()])].filter(
          ([, field]) => field.many || ordersOf(world, role, tableNamed(world, field.target)).size > 0,
        ),
      )
    : new Map<string, RelationField>()
  return {
    sketch,
    schema: schemaOf(world),
    grants,
    type: typeOf(world, sketch),
    maxRows: sketch.maxRows ?? world.maxRows ?? 30,
    key: keyOf(sketch),
    keyArguments: keyArguments(
      named(keyOf(sketch).filter(({ type }) => !type.list && type.base !== 'composite')),
      keyOf(sketch),
    ),
    fields: withHeadlines(fields, searched),
    columns,
    filters,
    filterRelations,
    compared: isCompared ? comparable(compared) : new Map(),
    orders,
    orderRelations,
    ranks: new Map(
      searched
        .map(([name, column]) => [`${name}Rank`, column] as const)
        .filter(([name]) => !orders.has(name) && !orderRelations.has(name)),
    ),
    distinct: hasAddition(world, sketch, 'distinctOn')
      ? new Map([...orders].filter(([name]) => isEnumName(name)))
      : new Map(),
    presets: { insert: presets, update: presetsOf(access, grants, 'update') },
    inserts,
    conflicts: hasAddition(world, sketch, 'upsert')
      ? new Map(
          [...uniqueKeysOf(sketch)].filter(
            ([, { columns, where }]) =>
              columns.every((column) => givenByInserts.has(column)) &&
              (where === null ? columns.every((column) => isGranted(grants.select, column)) : grants.select === 'all'),
          ),
        )
      : new Map(),
    takeovers: new Map(
      [
        ...named(readable.filter((column) => writable.includes(column) && isGranted(grants.update, column.name))),
      ].filter(([name]) => isEnumName(name)),
    ),
    updates: named(writable.filter((column) => isGranted(grants.update, column.name))),
    operators: on.updates === true ? operatorColumns(changeable(readable, writable, grants), named) : new Map(),
    figures: new Map<GroupFigure, ReadonlyMap<string, ColumnSketch>>([
      ...figured,
      ['countDistinct', orders],
      ['every', flags],
      ['some', flags],
    ]),
    aggregates: sketch.aggregate ? figured : new Map(),
    between: new Map(
      crossingsOf(world, links, sketch).flatMap(([, { way }]): readonly (readonly [string, string])[] => {
        const between = way?.onEdge ?? ''
        const name = lowerFirst(typeOf(world, tableNamed(world, between)))
        return name === 'cursor' || name === 'node' ? [] : [[name, between]]
      }),
    ),
    groupRelations: new Map(
      [...relationsBut(fields, [...orders.keys()])].filter(
        ([, field]) => !field.many && ordersOf(world, role, tableNamed(world, field.target)).size > 0,
      ),
    ),
  }
}

/** The writable ones: the statement names them. */
const presetsOf = (
  { presets }: ReturnType<typeof accessOf>,
  grants: Grants,
  command: 'insert' | 'update',
): ReadonlyMap<string, PresetSketch> =>
  new Map(
    presets.flatMap((one) => {
      const preset = one[command]
      return preset !== null && isGranted(grants[command], one.column) ? [[one.column, preset] as const] : []
    }),
  )

/** Each text has a field of excerpts, unless its name is taken. */
const withHeadlines = (
  fields: ReadonlyMap<string, RowField>,
  searched: readonly (readonly [string, ColumnSketch])[],
): ReadonlyMap<string, RowField> =>
  new Map([
    ...searched
      .filter(([, { type }]) => type.base !== 'tsvector')
      .map(([name, column]): [string, RowField] => [`${name}Headline`, { kind: 'headline', column }]),
    ...fields,
  ])

/** Computed scalars and enums without arguments are filtered like columns (spec/graphql.md 17). */
function addComputedFilters(
  world: World,
  sketch: TableSketch,
  fields: ReadonlyMap<string, RowField>,
  filters: Map<string, ColumnSketch>,
): void {
  for (const [name, field] of fields) {
    if (field.kind !== 'computed' || field.function.body.kind !== 'computed') continue
    const { column: columnName } = field.function.body
    const column = sketch.columns.find((item) => item.name === columnName)
    const isTaken = filters.has(name) || ['nodeId', 'and', 'or', 'not'].includes(name)
    if (column === undefined || isTaken || column.type.list) continue
    if (column.type.base === 'enum' && column.type.domain !== undefined) continue
    // The result of a function has the settings of its schema.
    if (column.type.base === 'jsonb' && operatorsOf(column.type, world.additions ?? {}).length === 0) continue
    filters.set(name, column)
  }
}

const relationsBut = (
  fields: ReadonlyMap<string, RowField>,
  taken: readonly string[],
): ReadonlyMap<string, RelationField> =>
  new Map(
    [...fields].flatMap(([name, field]) =>
      field.kind === 'relation' && !taken.includes(name) ? [[name, field] as const] : [],
    ),
  )

/**
 * The last claim of a name wins: node id, columns, forward relations, reverse relations, computed fields
 * (spec/graphql.md 2.4).
 */
function rowFields(
  world: World,
  role: Role,
  exposed: readonly TableSketch[],
  links: Links,
  sketch: TableSketch,
  columns: ReadonlyMap<string, ColumnSketch>,
): ReadonlyMap<string, RowField> {
  const fields = new Map<string, RowField>([['nodeId', { kind: 'nodeId' }]])
  for (const [name, column] of columns) fields.set(name, { kind: 'column', column })
  for (const { child, key, target } of links.from.get(sketch) ?? []) {
    const name = forwardName(world, { child, key, target })
    const field: RowField = {
      kind: 'relation',
      target: key.target,
      many: false,
      direction: 'forward',
      local: key.columns,
      foreign: key.targetColumns,
      notNull: isAlwaysThere(child, key, target),
    }
    if (isFieldName(name)) fields.set(name, field)
  }
  for (const { child, key } of links.to.get(sketch) ?? []) {
    const many = !isUnique(child, key.columns)
    const name = reverseName(world, { child, key, target: sketch })
    const field: RowField = {
      kind: 'relation',
      target: child.name,
      many,
      direction: 'reverse',
      local: key.targetColumns,
      foreign: key.columns,
      notNull: false,
    }
    if (isFieldName(name)) fields.set(name, field)
  }
  addComputed(world, role, exposed, sketch, fields)
  for (const [name, field] of [...linkedOf(world, role, exposed, sketch), ...crossingsOf(world, links, sketch)])
    if (isFieldName(name) && !fields.has(name)) fields.set(name, field)
  for (const { field: name, of } of unionsOf(world, sketch, sightOf(world, role, exposed))) {
    const type = typeOf(world, sketch) + name.charAt(0).toUpperCase() + name.slice(1)
    if (isFieldName(name) && of.length > 0 && !fields.has(name))
      fields.set(name, { kind: 'union', type, of: of.map(relationBy) })
  }
  return fields
}

const sightOf = (world: World, role: Role, exposed: readonly TableSketch[]): Sight => ({
  joins: (table, columns) => exposed.includes(table) && isReadable(table, columns, role),
  filterable: (table) => [...filterColumns(world, role, table).values()],
})

const relationBy = ({ target, local, foreign, many, way }: LinkedPath): RelationField => ({
  kind: 'relation',
  target: target.name,
  many,
  direction: 'reverse',
  local,
  foreign,
  notNull: false,
  way,
})

/** The links in the table's comment (spec/graphql.md 17.8). */
function linkedOf(
  world: World,
  role: Role,
  exposed: readonly TableSketch[],
  sketch: TableSketch,
): readonly (readonly [string, RelationField])[] {
  return pathsOf(world, sketch, sightOf(world, role, exposed)).map((path) => [path.name, relationBy(path)])
}

/** The fields through tables that connect rows of this one with others (spec/graphql.md 17.7). */
const crossingsOf = (world: World, links: Links, sketch: TableSketch): readonly (readonly [string, RelationField])[] =>
  (links.to.get(sketch) ?? []).flatMap((near) => {
    const { child } = near
    if (!hasAddition(world, child, 'manyToMany')) return []
    return (links.from.get(child) ?? []).flatMap((far): readonly (readonly [string, RelationField])[] => {
      const isOne = isUnique(child, near.key.columns) || isUnique(child, far.key.columns)
      if (far === near || far.key === near.key || isOne) return []
      if (!isUnique(child, [...near.key.columns, ...far.key.columns])) return []
      const [back, name] = [near, far].map((link) => `${forwardName(world, link)}Collection`)
      if (back === undefined || name === undefined || !isName(back) || !isName(name)) return []
      const through = [{ table: child.name, near: near.key.columns, far: far.key.columns, meets: null }]
      return [
        [
          name,
          {
            kind: 'relation',
            target: far.key.target,
            many: true,
            direction: 'reverse',
            local: near.key.targetColumns,
            foreign: far.key.targetColumns,
            notNull: false,
            way: { through, meets: null, onEdge: child.name },
          },
        ],
      ]
    })
  })

/**
 * Every column of the key has a unique argument name (spec/graphql.md 7.3, decision 5); readable or not, the field
 * exists (spec/graphql.md 1.2).
 */
const keyArguments = (
  named: ReadonlyMap<string, ColumnSketch>,
  key: readonly ColumnSketch[],
): ReadonlyMap<string, ColumnSketch> | null => (named.size === key.length ? named : null)

export const apiTableOf = (api: Api, name: string): ApiTable => {
  const found = api.tables.find((table) => table.sketch.name === name)
  if (found === undefined) throw new Error(`the role sees no table ${name}`)
  return found
}
