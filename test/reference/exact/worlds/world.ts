import type fc from 'fast-check'
import { violations } from '../../interpreter/constraints.ts'
import { forwardName, isUnique, reverseName } from '../../interpreter/links.ts'
import { storeOf } from '../../interpreter/store.ts'
import {
  columnNamed,
  tableNamed,
  additions,
  type AccessSketch,
  type PresetSketch,
  type Additions,
  type BaseType,
  type ColumnGrant,
  type ColumnSketch,
  type ColumnType,
  type CompositeSketch,
  type ConditionSketch,
  type DomainSketch,
  type EnumSketch,
  type ForeignKeySketch,
  type Grants,
  type Json,
  type LinkSketch,
  type PolicySketch,
  type TableSketch,
  type UnionSketch,
  type Value,
  type World,
} from '../../interpreter/world.ts'
import { postgisMajor } from '../../../support/clusters.ts'
import { directions } from '../../questions/page.ts'
import { choices, drawFrom, fresh, type Draw } from '../../questions/draw.ts'
import { columnNames, fieldOverrides, linkNames, relationOverrides, tableNames, typeOverrides } from './names.ts'
import { withFunctions } from './functions.ts'
import { withHeirs } from './heirs.ts'
import { drawValue, orDomain } from '../../questions/values.ts'

/** Catalogues with their data and roles. */
export const worlds: fc.Arbitrary<World> = choices(600).map((numbers) => drawWorld(drawFrom(numbers)))

const hasPostgis = postgisMajor() !== null

function drawWorld(draw: Draw): World {
  const enums = drawEnums(draw)
  const world: World = {
    comments: draw.pick(['bare', 'before', 'after']),
    inflects: draw.chance(50),
    maxRows: draw.chance(20) ? draw.pick([2, 3, 1, 50]) : null,
    // Updates with related rows need both.
    additions: { ...drawAdditions(draw, 60), ...(draw.chance(30) && { nestedWrites: true, updates: true }) },
    enums,
    composites: drawComposites(draw, enums),
    domains: drawDomains(draw, enums),
    functionShapes: draw.chance(45),
    ...(draw.chance(20) && hasPostgis && { geo: true as const }),
    tables: [],
    functions: [],
  }
  const names = new Set<string>()
  const tables: TableSketch[] = []
  const count = 1 + draw.int(4)
  // One for all keys: with mixed actions, Postgres may reach a check before the action that would satisfy it.
  const onDelete = draw.pick(['no action', 'cascade', 'set null'] as const)
  while (tables.length < count) {
    const name = fresh(draw, names, tableNames)
    tables.push(drawTable(draw, world, tables, name, onDelete))
  }
  return withAsides(draw, withLimits(draw, withFunctions(draw, fill(draw, { ...world, tables }))))
}

/** Settings that decide whether a document runs and its extensions, never the answer; drawn last, too. */
function withAsides(draw: Draw, world: World): World {
  const digits = draw.pick(['0123456789abcdef', '0123456789ab', '0123'])
  const drawn: World = {
    ...world,
    ...(draw.chance(15) && { explain: true as const }),
    ...(draw.chance(15) && { schemaReport: true as const }),
    ...(draw.chance(15) && { allowlist: { roles: draw.pick([null, ['anon'], ['authenticated']]), digits } }),
    tables: world.tables.map((table) => ({ ...table, ...(draw.chance(8) && { unrooted: true as const }) })),
  }
  const ordered = withDefaultOrders(draw, drawn)
  const shaped = withAccess(draw, withDeprecated(draw, draw.chance(20) ? { ...ordered, live: true } : ordered))
  const linked = withUnions(draw, withLinks(draw, withSoftDeletes(draw, withDefaultFilters(draw, shaped))))
  return withHeirs(draw, withTwin(draw, withInterfaces(draw, linked)))
}

/** A table with the columns and rows of another, so that they have more in common than by chance. */
function withTwin(draw: Draw, world: World): World {
  const [table] = world.tables.filter(({ view, sampled }) => view === undefined && sampled === undefined)
  if (table === undefined || !draw.chance(40)) return world
  const { links: _, unions: __, partitioned: ___, ...others } = table
  const twin: TableSketch = {
    ...others,
    name: 'twin',
    typeName: null,
    uniques: [],
    foreignKeys: [],
    policies: null,
    ...(draw.chance(30) && { additions: {} }),
    totalCount: draw.chance(70) && table.totalCount,
    rows: draw.some(table.rows, 70),
  }
  const collections = draw.chance(80) ? ['Shared'] : ['Shared', 'Common_thing']
  const collected = (one: TableSketch): TableSketch => {
    const { interfaces: ____, ...plain } = one
    return { ...plain, collections }
  }
  return { ...world, tables: [...world.tables.map((one) => (one === table ? collected(one) : one)), collected(twin)] }
}

/** Tables whose types share interfaces, some of which have taken or invalid names. */
function withInterfaces(draw: Draw, world: World): World {
  if (!draw.chance(50)) return world
  const drawn = (table: TableSketch): TableSketch => {
    const named = draw.some(['Shared', 'Common_thing', draw.pick(['Node', 'no name', 'JSON'])], 45)
    const collections = named.filter(() => draw.chance(60))
    const interfaces = named.filter((name) => !collections.includes(name))
    return {
      ...table,
      ...(interfaces.length > 0 && { interfaces }),
      ...(collections.length > 0 && { collections }),
    }
  }
  return { ...world, tables: world.tables.map(drawn) }
}

/** Tables with unions of relations to one row; some of these have many rows, or no target. */
function withUnions(draw: Draw, world: World): World {
  const drawUnion = (names: readonly string[], others: readonly string[], place: number): UnionSketch => ({
    field: draw.pick([`union_${place}`, `union_${place}`, `union_${place}`, others[0] ?? '', 'nodeId']),
    of: draw.chance(60)
      ? [...new Set(names)]
      : Array.from({ length: draw.pick([2, 1, 3]) }, () => draw.pick(draw.chance(4) ? others : names)),
  })
  const joined = (table: TableSketch): TableSketch => {
    const plainLinks = (table.links ?? []).filter(({ path }) => path.every(({ conditions }) => conditions.length === 0))
    const fields = fieldsOn(world, table)
    const names = [
      ...fields.filter(({ many }) => !many).map(({ field }) => field),
      ...plainLinks.map(({ name }) => name),
    ]
    const others = [table.columns[0]?.name ?? '', 'nowhere', ...fields.map(({ field }) => field)]
    if (names.length === 0 || !draw.chance(70)) return table
    const unions = [0, 1].map((place) => drawUnion(names, others, place))
    return { ...table, unions: [...new Map(unions.map((union) => [union.field, union])).values()] }
  }
  return { ...world, tables: world.tables.map(joined) }
}

export interface LeadingField {
  readonly field: string
  readonly to: TableSketch
  readonly many: boolean
}

/** Fields of a table from keys: its own, then those of all tables that refer to it. */
export const fieldsOn = (world: World, from: TableSketch): readonly LeadingField[] => [
  ...from.foreignKeys.map((key) => {
    const to = tableNamed(world, key.target)
    return { field: forwardName(world, { child: from, key, target: to }), to, many: false }
  }),
  ...world.tables.flatMap((child) =>
    child.foreignKeys
      .filter(({ target }) => target === from.name)
      .map((key) => ({
        field: reverseName(world, { child, key, target: from }),
        to: child,
        many: !isUnique(child, key.columns),
      })),
  ),
]

/** Tables with soft-deleted rows. The time of a deletion is unknown, so rows are not deleted there. */
function withSoftDeletes(draw: Draw, world: World): World {
  const marks = ({ columns, grants }: TableSketch): readonly ColumnSketch[] => {
    const isTimed = Object.values(grants).every((one) => !one.delete)
    return columns.filter(
      ({ type, notNull, fallback }) =>
        !type.list &&
        (type.base === 'bool' || (type.base === 'timestamptz' && isTimed && !notNull && fallback.kind === 'none')),
    )
  }
  const marked = (table: TableSketch): TableSketch => {
    const usable = marks(table)
    return usable.length > 0 && draw.chance(30) ? { ...table, softDelete: draw.pick(usable).name } : table
  }
  return { ...world, tables: world.tables.map(marked) }
}

/** Tables with links over several keys, occasionally with conditions; some have no target. */
function withLinks(draw: Draw, world: World): World {
  const drawPath = (from: TableSketch, length: number): LinkSketch['path'] => {
    const ways = fieldsOn(world, from)
    if (length === 0 || ways.length === 0) return []
    const { field, to } = draw.pick(ways)
    const conditions = draw.chance(30)
      ? draw.some(to.columns, 30).map((column) => drawCondition(draw, world, to, column))
      : []
    return [{ field: draw.chance(3) ? 'nowhere' : field, conditions }, ...drawPath(to, length - 1)]
  }
  const drawLink = (table: TableSketch, place: number): readonly LinkSketch[] => {
    const path = drawPath(table, draw.pick([1, 2, 2, 3, 4]))
    const name = draw.pick([`link_${place}`, `link_${place}`, `link_${place}`, table.columns[0]?.name ?? '', 'nodeId'])
    return path.length === 0 ? [] : [{ name, path }]
  }
  return {
    ...world,
    tables: world.tables.map((table) => {
      const links = draw.chance(45) ? [0, 1].flatMap((place) => drawLink(table, place)) : []
      const named = new Map(links.map((link) => [link.name, link]))
      return links.length === 0 ? table : { ...table, links: [...named.values()] }
    }),
  }
}

/** Tables with a default order; unsortable columns are left out of it. */
function withDefaultOrders(draw: Draw, world: World): World {
  const drawOrder = (table: TableSketch): TableSketch['defaultOrder'] =>
    draw.some(table.columns, 30).map(({ name }) => ({ column: name, direction: draw.pick(directions) }))
  return {
    ...world,
    tables: world.tables.map((table) => (draw.chance(12) ? { ...table, defaultOrder: drawOrder(table) ?? [] } : table)),
  }
}

function drawCondition(draw: Draw, world: World, { columns }: TableSketch, column: ColumnSketch): ConditionSketch {
  const drawOne = (): Json => drawValue(draw, world, (draw.chance(15) ? draw.pick(columns) : column).type)
  if (draw.chance(40)) return { column: column.name, operator: 'is', value: draw.pick(['NULL', 'NOT_NULL']) }
  if (draw.chance(20)) return { column: column.name, operator: 'in', value: [drawOne(), drawOne()] }
  return { column: column.name, operator: draw.pick(['neq', 'eq', 'lt', 'lte', 'gt', 'gte']), value: drawOne() }
}

/** Tables with a default filter; unfilterable columns are left out. */
function withDefaultFilters(draw: Draw, world: World): World {
  return {
    ...world,
    tables: world.tables.map((table) =>
      draw.chance(12)
        ? {
            ...table,
            defaultFilter: draw.some(table.columns, 30).map((column) => drawCondition(draw, world, table, column)),
          }
        : table,
    ),
  }
}

/** Columns with settings for one role, or for all. */
function withAccess(draw: Draw, world: World): World {
  if (!draw.chance(20)) return world
  const drawPreset = (column: ColumnSketch): PresetSketch | null => {
    if (draw.chance(30)) return null
    const isText = column.type.base === 'text' && !column.type.list && column.type.domain === undefined
    return isText && draw.chance(50)
      ? { kind: 'subject' }
      : { kind: 'value', value: drawValue(draw, world, column.type) }
  }
  const drawAccess = (table: TableSketch, role: string): AccessSketch => {
    const settable = table.columns.filter(({ fallback }) => fallback.kind !== 'identity')
    return {
      role,
      readOnly: draw.some(table.columns, 15).map(({ name }) => name),
      writeOnly: draw.some(table.columns, 15).map(({ name }) => name),
      presets: draw.some(settable, 25).map((column) => ({
        column: column.name,
        insert: drawPreset(column),
        update: drawPreset(column),
      })),
    }
  }
  const restricted = (table: TableSketch): TableSketch => {
    const access = draw.some(['public', 'authenticated', 'anon'], 40).map((role) => drawAccess(table, role))
    return access.length === 0 ? table : { ...table, access }
  }
  return { ...world, tables: world.tables.map(restricted) }
}

/** Does not change answers either. */
function withDeprecated(draw: Draw, world: World): World {
  if (!draw.chance(10)) return world
  const marked = (column: ColumnSketch): ColumnSketch =>
    draw.chance(30) ? { ...column, deprecated: 'use another (or none) "one"' } : column
  return { ...world, tables: world.tables.map((table) => ({ ...table, columns: table.columns.map(marked) })) }
}

/** Drawn last, so that earlier draws are unchanged. */
function withLimits(draw: Draw, world: World): World {
  if (!draw.chance(12)) return world
  return { ...world, limits: { fields: draw.pick([null, 12, 30]), rows: draw.pick([20, 200, null, 2_000]) } }
}

/** Domains over scalars and lists. */
function drawDomains(draw: Draw, enums: readonly EnumSketch[]): readonly DomainSketch[] {
  if (!draw.chance(35)) return []
  const forms = [
    { type: plain('int4'), check: 'sign' },
    { type: plain('text'), check: 'text' },
    { type: { ...plain('int4'), list: true }, check: 'size' },
    { type: plain('int8'), check: 'nothing' },
    { type: { ...plain('text'), list: true }, check: 'nothing' },
    { type: plain('timestamptz'), check: 'nothing' },
    ...enums.map((item) => ({ type: { ...plain('enum'), enum: item.name }, check: 'nothing' }) as const),
  ] as const
  return draw.some(forms, 50).map((form, index) => ({ name: `domain ${index}`, ...form }))
}

/** Composite types; the second contains the first. */
function drawComposites(draw: Draw, enums: readonly EnumSketch[]): readonly CompositeSketch[] {
  if (!draw.chance(35)) return []
  const attributes: CompositeSketch['attributes'] = [
    { name: 'x', type: plain('int4') },
    { name: 'some_label', type: plain('text') },
    { name: 'no name!', type: plain('text') },
    { name: 'Tags', type: { ...plain('text'), list: true } },
    { name: 'flag', type: plain('bool') },
    ...enums.map((item) => ({ name: 'kind', type: { ...plain('enum'), enum: item.name } })),
  ]
  const inner: CompositeSketch = {
    name: 'composite_one',
    attributes: attributes.filter(() => !draw.chance(25)).concat({ name: 'y', type: plain('int4') }),
  }
  const outer: CompositeSketch = {
    name: 'composite_two',
    ...(draw.chance(30) && { typeName: 'PairOfThings' }),
    attributes: [...draw.some(attributes), { name: 'inner', type: { ...plain('composite'), composite: inner.name } }],
  }
  return draw.chance(60) ? [inner, outer] : [inner]
}

/** Occasionally a composite type instead. */
function orComposite(draw: Draw, world: World, type: ColumnType): ColumnType {
  const composites = world.composites ?? []
  if (composites.length === 0 || !draw.chance(25)) return type
  return { ...plain('composite'), composite: draw.pick(composites).name }
}

const enumLabels = ['low', 'true', 'high', 'Mid', 'odd label', 'ünï', 'null', 'false', 'a,b', 'with"quote']

function drawEnums(draw: Draw): readonly EnumSketch[] {
  if (!draw.chance(60)) return []
  const labels = [...enumLabels.slice(0, 2 + draw.int(enumLabels.length - 2))]
  const turned = draw.chance(50) ? labels.reverse() : labels
  const mapped = draw.some(turned, 40)
  return [
    {
      name: draw.pick(['mood', 'Mood', 'odd_Kind']),
      labels: turned,
      mappings: Object.fromEntries(mapped.map((label, index) => [label, `VALUE_${index}`])),
    },
  ]
}

/** With PostGIS, occasionally a geometry instead. */
const orGeometry = (draw: Draw, { geo }: World, type: ColumnType): ColumnType =>
  geo === true && draw.chance(30)
    ? { ...plain('geometry'), ...(draw.chance(50) && { srid: draw.pick([25832, 4258]) }) }
    : type

const plain = (base: BaseType): ColumnType => ({ base, list: false, enum: null })

const keyBases: readonly BaseType[] = [
  'int4',
  'text',
  'int8',
  'uuid',
  'varchar(5)',
  'timestamptz',
  'bool',
  'numeric',
  'date',
]
/** Types that seldom are in keys, but are valid in cursors and node ids. */
const oddKeyTypes = (world: World): readonly ColumnType[] => [
  { ...plain('text'), list: true },
  { ...plain('int4'), list: true },
  { ...plain('numeric'), list: true },
  plain('int4range'),
  plain('bytea'),
  plain('inet'),
  ...world.enums.map(({ name }): ColumnType => ({ base: 'enum', list: true, enum: name })),
  plain('jsonb'),
  ...(world.composites ?? []).map(({ name }): ColumnType => ({ ...plain('composite'), composite: name })),
]

const bases: readonly BaseType[] = [
  'int4',
  'text',
  'bool',
  'int8',
  'numeric',
  'timestamptz',
  'varchar(5)',
  'numeric(8,2)',
  'date',
  'uuid',
  'enum',
]

function drawType(draw: Draw, world: World): ColumnType {
  const [kind] = world.enums
  const base = draw.pick(bases)
  if (base !== 'enum') return { ...plain(base), list: draw.chance(15) }
  return kind === undefined ? plain('text') : { base, list: draw.chance(15), enum: kind.name }
}

function drawKeyColumns(draw: Draw, world: World, names: Set<string>): readonly ColumnSketch[] {
  const key = (name: string, type: ColumnType, fallback: ColumnSketch['fallback']): ColumnSketch => ({
    name,
    type,
    notNull: true,
    fallback,
    field: null,
  })
  names.add('id')
  const form = draw.int(10)
  if (form < 4) return [key('id', plain('int4'), draw.chance(50) ? { kind: 'identity' } : { kind: 'none' })]
  const [kind] = world.enums
  const type = (): ColumnType => {
    if (draw.chance(25)) return draw.pick(oddKeyTypes(world))
    if (kind !== undefined && draw.chance(20)) return { ...plain('enum'), enum: kind.name }
    return orCollated(draw, plain(draw.pick(keyBases)))
  }
  if (form < 7)
    return [key(fresh(draw, names, ['key', 'Key', 'id_', 'accountId', 'key part', 'uid']), type(), { kind: 'none' })]
  return ['b', 'a', draw.pick(['c', 'Key C', 'A'])].slice(0, 2 + draw.int(2)).map((name) => {
    names.add(name)
    return key(name, type(), { kind: 'none' })
  })
}

/** Texts occasionally have a collation, mostly different on the sides of a foreign key; all order by bytes. */
const orCollated = (draw: Draw, type: ColumnType): ColumnType =>
  /^(?:text|varchar)/.test(type.base) && !type.list && type.domain === undefined && draw.chance(50)
    ? { ...type, collated: draw.pick(['C', 'POSIX', 'ucs_basic']) }
    : type

/** Occasionally a type whose filter an addition defines. */
const orSpecial = (draw: Draw, type: ColumnType): ColumnType =>
  draw.chance(25) ? plain(draw.pick(specialBases)) : type

const specialBases: readonly BaseType[] = ['jsonb', 'tsvector', 'int4range', 'int4multirange', 'inet', 'ltree', 'bytea']

function drawColumn(draw: Draw, world: World, names: Set<string>): ColumnSketch {
  const plainly = orSpecial(draw, orDomain(draw, world, drawType(draw, world)))
  const type = orGeometry(draw, world, orComposite(draw, world, plainly))
  return {
    name: fresh(draw, names, columnNames),
    type,
    notNull: draw.chance(25),
    fallback: draw.chance(25) ? { kind: 'value', value: drawValue(draw, world, type) } : { kind: 'none' },
    field: draw.chance(10) ? draw.pick(fieldOverrides) : null,
  }
}

function drawTable(
  draw: Draw,
  world: World,
  before: readonly TableSketch[],
  name: string,
  onDelete: ForeignKeySketch['onDelete'],
): TableSketch {
  const names = new Set<string>()
  const key = drawKeyColumns(draw, world, names)
  const others = Array.from({ length: draw.int(5) }, () => drawColumn(draw, world, names))
  // Keys need not be the first columns, and are declared in any order (spec/graphql.md 1.2).
  const columns = draw.chance(30) ? [...others, ...key] : [...key, ...others]
  const primaryKey = key.map((column) => column.name)
  const self = {
    name,
    columns,
    primaryKey: draw.chance(50) ? primaryKey.reverse() : primaryKey,
    uniques: [],
    foreignKeys: [],
  }
  const linked = drawLinks(draw, [...before, self as unknown as TableSketch], self, names, onDelete)
  return {
    ...linked,
    typeName: drawTypeName(draw, name),
    totalCount: draw.chance(50),
    aggregate: draw.chance(50),
    maxRows: draw.chance(20) ? draw.pick([3, 1, 2, 0]) : null,
    additions: drawAdditions(draw, 20),
    policies: draw.chance(25) ? drawPolicies(draw, linked.columns) : null,
    grants: { anon: drawGrants(draw, linked), authenticated: drawGrants(draw, linked) },
    rows: [],
  }
}

/** Each addition is mostly absent, or on, seldom off. */
const drawAdditions = (draw: Draw, percent: number): Additions =>
  Object.fromEntries(draw.some(additions, percent).map((name) => [name, !draw.chance(20)]))

/** Tables with an invalid GraphQL name are mostly renamed. */
const drawTypeName = (draw: Draw, name: string): string | null =>
  draw.chance(/^[A-Za-z]\w*$/.test(name) ? 10 : 85) ? draw.pick(typeOverrides) : null

type Linked = Pick<TableSketch, 'name' | 'columns' | 'primaryKey' | 'uniques' | 'foreignKeys'>

function drawLinks(
  draw: Draw,
  targets: readonly TableSketch[],
  table: Linked,
  names: Set<string>,
  onDelete: ForeignKeySketch['onDelete'],
): Linked {
  let linked = table
  const count = targets.length === 1 ? Number(draw.chance(40)) : draw.int(3)
  for (let index = 0; index < count; index += 1) linked = drawLink(draw, targets, linked, names, index, onDelete)
  const [near, far] = linked.foreignKeys
  // Connects two rows at most once, as `manyToMany` requires.
  if (near !== undefined && far !== undefined && draw.chance(70))
    linked = addUnique(draw, linked, [...near.columns, ...far.columns])
  return draw.chance(20) ? addUnique(draw, linked, [draw.pick(linked.columns).name]) : linked
}

function drawLink(
  draw: Draw,
  targets: readonly TableSketch[],
  table: Linked,
  names: Set<string>,
  index: number,
  onDelete: ForeignKeySketch['onDelete'],
): Linked {
  const target = draw.pick([...targets].reverse().slice(targets.length > 1 && !draw.chance(30) ? 1 : 0))
  const targetColumns = target.columns.filter((column) => target.primaryKey.includes(column.name))
  const notNull = draw.chance(20) && target.name !== table.name
  const columns = targetColumns.map((column): ColumnSketch => ({
    name: fresh(draw, names, linkNames),
    type: orCollated(draw, column.type),
    notNull: notNull && draw.chance(80),
    fallback: { kind: 'none' },
    field: null,
  }))
  const key: ForeignKeySketch = {
    name: `link ${table.name.slice(0, 20)} ${index}`,
    columns: columns.map((column) => column.name),
    target: target.name,
    targetColumns: targetColumns.map((column) => column.name),
    onDelete,
    ...(draw.chance(15) && { unproven: true as const }),
    foreignName: draw.chance(20) ? draw.pick(relationOverrides) : null,
    localName: draw.chance(20) ? draw.pick(relationOverrides) : null,
  }
  const linked = { ...table, columns: [...table.columns, ...columns], foreignKeys: [...table.foreignKeys, key] }
  return draw.chance(30) ? addUnique(draw, linked, draw.chance(30) ? key.columns.slice(0, 1) : key.columns) : linked
}

const flags = (columns: readonly ColumnSketch[]): readonly ColumnSketch[] =>
  columns.filter((column) => column.type.base === 'bool' && !column.type.list)

function addUnique(draw: Draw, table: Linked, columns: readonly string[]): Linked {
  const partial = flags(table.columns)
  const where = partial.length > 0 && draw.chance(50) ? draw.pick(partial).name : null
  return { ...table, uniques: [...table.uniques, { columns, where }] }
}

function drawPolicies(draw: Draw, columns: readonly ColumnSketch[]): readonly PolicySketch[] {
  // As for a contact form: rows are inserted but not readable.
  if (draw.chance(25)) return [{ command: 'insert', condition: { kind: 'always' } }]
  const owners = columns.filter((column) => column.type.base === 'text' && !column.type.list)
  const conditions: readonly PolicySketch['condition'][] = [
    { kind: 'always' },
    ...flags(columns).map(({ name }) => ({ kind: 'flag', column: name }) as const),
    ...owners.map(({ name }) => ({ kind: 'owner', column: name }) as const),
  ]
  return Array.from({ length: draw.int(4) }, () => ({
    command: draw.pick(['all', 'select', 'update', 'insert', 'delete'] as const),
    condition: draw.pick([...conditions].reverse()),
  }))
}

function drawGrants(draw: Draw, table: Linked): Grants {
  const names = table.columns.map((column) => column.name)
  const columns = (needed: readonly string[]): ColumnGrant => {
    if (!draw.chance(35)) return 'all'
    const chosen = new Set([...needed, ...draw.some(names, 60)])
    return draw.chance(10) ? [] : names.filter((name) => chosen.has(name))
  }
  // Without its key nothing of a table can be read (spec/graphql.md 1.2), which has a separate test.
  return { select: columns(table.primaryKey), insert: columns([]), update: columns([]), delete: !draw.chance(20) }
}

/** Rows without violations, with many nulls and ties. */
function fill(draw: Draw, world: World): World {
  let filled = world
  for (const table of world.tables) {
    // Columns that are mostly null: for groups, pages and figures of nulls only.
    const empty = new Set(draw.some(table.columns, 15).map(({ name }) => name))
    const wanted = draw.pick([3, 5, 2, 8, 0, 4])
    for (let index = 0; index < wanted; index += 1) {
      const row = table.columns.map((column) =>
        empty.has(column.name) && !column.notNull && draw.chance(80)
          ? null
          : drawCell(draw, filled, table, column, index),
      )
      const next = withRow(filled, table.name, linkRow(draw, filled, table, row))
      if (violations(next, storeOf(next)).length === 0) filled = next
    }
  }
  return filled
}

function drawCell(draw: Draw, world: World, table: TableSketch, column: ColumnSketch, index: number): Value {
  if (!column.notNull && draw.chance(35)) return null
  const isSimpleKey =
    table.primaryKey.length === 1 &&
    table.primaryKey[0] === column.name &&
    column.type.base === 'int4' &&
    !column.type.list
  return isSimpleKey ? index + 1 : drawValue(draw, world, column.type)
}

/** Foreign keys refer to an existing row, or are null. */
function linkRow(draw: Draw, world: World, table: TableSketch, cells: readonly Value[]): readonly Value[] {
  const row = new Map(table.columns.map((column, index) => [column.name, cells[index] ?? null]))
  for (const key of table.foreignKeys) {
    const target = world.tables.find((item) => item.name === key.target)
    if (target === undefined || target.rows.length === 0) {
      for (const name of key.columns) if (!columnNamed(table, name).notNull) row.set(name, null)
      continue
    }
    const parent = draw.pick(target.rows)
    if (draw.chance(25)) continue
    key.columns.forEach((name, index) => {
      const position = target.columns.findIndex((column) => column.name === key.targetColumns[index])
      row.set(name, parent[position] ?? null)
    })
  }
  return [...row.values()]
}

const withRow = (world: World, table: string, row: readonly Value[]): World => ({
  ...world,
  tables: world.tables.map((item) => (item.name === table ? { ...item, rows: [...item.rows, row] } : item)),
})
