import { violations } from '../interpreter/constraints.ts'
import { storeOf } from '../interpreter/store.ts'
import { grantsOf, type Additions, type TableSketch, type World } from '../interpreter/world.ts'

const without = <T>(items: readonly T[], index: number): readonly T[] =>
  items.filter((_, position) => position !== index)

const replaced = (world: World, index: number, table: TableSketch): World => ({
  ...world,
  tables: world.tables.map((item, position) => (position === index ? table : item)),
})

const isConsistent = (world: World): boolean => violations(world, storeOf(world)).length === 0

/** Worlds with fewer rows and the same catalogue: they can be tried on the same database. */
export function* emptierWorlds(world: World): Generator<World> {
  for (const [index, table] of world.tables.entries()) {
    for (const rows of [[], ...table.rows.map((_, row) => without(table.rows, row))]) {
      const smaller = replaced(world, index, { ...table, rows })
      if (table.rows.length > 0 && isConsistent(smaller)) yield smaller
    }
  }
}

/** Worlds with less in their catalogue. */
export function* simplerWorlds(world: World): Generator<World> {
  for (const index of world.functions.keys()) yield { ...world, functions: without(world.functions, index) }
  for (const [index, table] of world.tables.entries()) {
    if (!isReferred(world, table)) yield { ...world, tables: without(world.tables, index) }
  }
  for (const [index, table] of world.tables.entries()) {
    for (const simpler of simplerTables(world, table)) {
      const smaller = replaced(world, index, simpler)
      if (isConsistent(smaller)) yield smaller
    }
  }
  for (const [index, item] of world.enums.entries()) {
    const isUsed = world.tables.some((table) => table.columns.some((column) => column.type.enum === item.name))
    if (!isUsed) yield { ...world, enums: without(world.enums, index) }
    else if (Object.keys(item.mappings).length > 0)
      yield { ...world, enums: world.enums.map((other) => (other === item ? { ...item, mappings: {} } : other)) }
  }
  if (world.comments !== 'bare') yield { ...world, comments: 'bare' }
  if (world.inflects) yield { ...world, inflects: false }
  if (world.maxRows !== null) yield { ...world, maxRows: null }
  if (world.limits !== undefined) {
    const { limits: _, ...free } = world
    yield free
  }
  for (const additions of fewerAdditions(world.additions)) yield { ...world, additions }
}

const isReferred = (world: World, table: TableSketch): boolean =>
  world.tables.some((other) => other !== table && other.foreignKeys.some((key) => key.target === table.name)) ||
  world.functions.some(
    ({ body }) => ('table' in body && body.table === table.name) || ('target' in body && body.target === table.name),
  )

const fewerAdditions = (additions: Additions = {}): readonly Additions[] =>
  Object.keys(additions).map((gone) => Object.fromEntries(Object.entries(additions).filter(([name]) => name !== gone)))

function* simplerTables(world: World, table: TableSketch): Generator<TableSketch> {
  for (const index of table.foreignKeys.keys()) yield { ...table, foreignKeys: without(table.foreignKeys, index) }
  for (const index of table.uniques.keys()) yield { ...table, uniques: without(table.uniques, index) }
  if (table.policies !== null) yield { ...table, policies: null }
  if (table.heir !== undefined) {
    const { heir: _, ...plain } = table
    yield plain
  }
  if (table.defaultOrder !== undefined) {
    const { defaultOrder: _, ...plain } = table
    yield plain
  }
  if (table.softDelete !== undefined) {
    const { softDelete: _, ...plain } = table
    yield plain
  }
  if (table.defaultFilter !== undefined) {
    const { defaultFilter, ...plain } = table
    yield plain
    if (defaultFilter.length > 1)
      for (const index of defaultFilter.keys()) yield { ...table, defaultFilter: without(defaultFilter, index) }
  }
  if (table.links !== undefined) {
    const { links, ...plain } = table
    yield plain
    if (links.length > 1) for (const index of links.keys()) yield { ...table, links: without(links, index) }
  }
  if (table.interfaces !== undefined) {
    const { interfaces, ...plain } = table
    yield plain
    if (interfaces.length > 1)
      for (const index of interfaces.keys()) yield { ...table, interfaces: without(interfaces, index) }
  }
  if (table.collections !== undefined) {
    const { collections, ...plain } = table
    yield plain
    if (collections.length > 1)
      for (const index of collections.keys()) yield { ...table, collections: without(collections, index) }
  }
  if (table.unions !== undefined) {
    const { unions, ...plain } = table
    yield plain
    if (unions.length > 1) for (const index of unions.keys()) yield { ...table, unions: without(unions, index) }
    for (const [index, { of }] of unions.entries())
      for (const place of of.length > 1 ? of.keys() : [])
        yield { ...table, unions: unions.map((one, at) => (at === index ? { ...one, of: without(of, place) } : one)) }
  }
  if (table.access !== undefined) {
    const { access, ...open } = table
    yield open
    if (access.length > 1) for (const index of access.keys()) yield { ...table, access: without(access, index) }
  }
  for (const index of (table.policies ?? []).keys()) yield { ...table, policies: without(table.policies ?? [], index) }
  for (const [index, column] of table.columns.entries()) {
    if (!isNeeded(world, table, column.name)) yield withoutColumn(table, index)
    const { type, field, notNull, fallback } = column
    const change = (over: Partial<typeof column>): TableSketch => ({
      ...table,
      columns: table.columns.map((item, position) => (position === index ? { ...item, ...over } : item)),
    })
    if (field !== null) yield change({ field: null })
    if (notNull && !table.primaryKey.includes(column.name)) yield change({ notNull: false })
    if (fallback.kind !== 'none' && type.base !== 'int4') yield change({ fallback: { kind: 'none' } })
  }
  if (table.typeName !== null) yield { ...table, typeName: null }
  if (table.maxRows !== null) yield { ...table, maxRows: null }
  for (const additions of fewerAdditions(table.additions)) yield { ...table, additions }
  if (table.totalCount) yield { ...table, totalCount: false }
  if (table.aggregate) yield { ...table, aggregate: false }
  const { unrooted, ...rooted } = table
  if (unrooted) yield rooted
  yield* widerGrants(table)
  for (const [index, key] of table.foreignKeys.entries()) {
    const plain = { ...key, foreignName: null, localName: null }
    if (key.foreignName !== null || key.localName !== null)
      yield { ...table, foreignKeys: table.foreignKeys.map((item, position) => (position === index ? plain : item)) }
  }
}

function* widerGrants(table: TableSketch): Generator<TableSketch> {
  const all = { select: 'all', insert: 'all', update: 'all', delete: true } as const
  for (const role of ['anon', 'authenticated'] as const) {
    for (const command of ['select', 'insert', 'update', 'delete'] as const) {
      if (grantsOf(table, role)[command] === all[command]) continue
      yield { ...table, grants: { ...table.grants, [role]: { ...grantsOf(table, role), [command]: all[command] } } }
    }
  }
}

const isNeeded = (world: World, table: TableSketch, column: string): boolean =>
  [
    table.primaryKey,
    [table.softDelete],
    ...table.uniques.map((unique) => [...unique.columns, unique.where]),
    ...table.foreignKeys.map((key) => key.columns),
  ].some((names) => names.includes(column)) ||
  (table.policies ?? []).some(({ condition }) => condition.kind !== 'always' && condition.column === column) ||
  world.tables.some((other) =>
    other.foreignKeys.some((key) => key.target === table.name && key.targetColumns.includes(column)),
  ) ||
  // Functions are removed first, so any column may go.
  world.functions.some(({ body }) => Object.values(body).includes(column))

function withoutColumn(table: TableSketch, index: number): TableSketch {
  const name = table.columns[index]?.name
  const cut = (grant: TableSketch['grants']['anon']['select']) =>
    grant === 'all' ? grant : grant.filter((item) => item !== name)
  const grants = Object.fromEntries(
    Object.entries(table.grants).map(([role, item]) => [
      role,
      { ...item, select: cut(item.select), insert: cut(item.insert), update: cut(item.update) },
    ]),
  ) as unknown as TableSketch['grants']
  // Settings of its columns are removed first.
  const { access: _, ...plain } = table
  return {
    ...plain,
    grants,
    columns: without(table.columns, index),
    rows: table.rows.map((row) => without(row, index)),
  }
}
