import { compareValues } from '../../interpreter/types.ts'
import {
  grantsOf,
  type ColumnSketch,
  type Grants,
  type TableSketch,
  type Value,
  type World,
} from '../../interpreter/world.ts'
import { roles } from './roles.ts'

/**
 * With a view whose key a comment declares over a nullable column: rows without a key are in no read (spec/graphql.md
 * 5.8). Unchanged if no table that all roles may read has such a column.
 */
export function withKeyedView(world: World): World {
  if (world.live === true) return world
  for (const base of world.tables.filter((table) => isReadByAll(table))) {
    const key = base.columns.find((column, place) => isKeyWithNulls(world, base, column, place))
    if (key !== undefined) return { ...world, tables: [...world.tables, viewOf(base, key.name)] }
  }
  return world
}

const isReadByAll = (table: TableSketch): boolean =>
  table.view === undefined && roles.every((role) => grantsOf(table, role).select === 'all')

function isKeyWithNulls(world: World, { rows }: TableSketch, { type }: ColumnSketch, place: number): boolean {
  if (type.list || !keyBases.has(type.base)) return false
  const values = rows.map((row): Value => row[place] ?? null)
  const given = values.filter((value) => value !== null)
  const isTwice = (value: Value, index: number): boolean =>
    given.slice(index + 1).some((other) => compareValues(world, type, value, other) === 0)
  return given.length > 0 && given.length < values.length && !given.some(isTwice)
}

const keyBases: ReadonlySet<string> = new Set(['int4', 'int8', 'text', 'uuid', 'numeric', 'date', 'bool'])

const readers: Grants = { select: 'all', insert: [], update: [], delete: false }

const viewOf = (base: TableSketch, key: string): TableSketch => ({
  name: 'keyed_view',
  view: { of: base.name, flag: null, invoker: false },
  typeName: null,
  totalCount: true,
  aggregate: true,
  maxRows: null,
  columns: base.columns.map((column) => ({ ...column, notNull: false, fallback: { kind: 'none' } })),
  primaryKey: [key],
  uniques: [],
  foreignKeys: [],
  policies: null,
  grants: Object.fromEntries(roles.map((role) => [role, readers])),
  rows: base.rows,
})
