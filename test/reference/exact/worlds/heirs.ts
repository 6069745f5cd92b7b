import { type TableSketch, type World } from '../../interpreter/world.ts'
import type { Draw } from '../../questions/draw.ts'

const readers = { insert: [], update: [], delete: false } as const

/**
 * Tables with children that hold some of their rows, in columns that may be null only there. Keys and foreign keys
 * apply to each table alone, so such tables have no foreign keys, and are not written.
 */
export function withHeirs(draw: Draw, world: World): World {
  if (world.live === true) return world
  const isReferred = (name: string): boolean =>
    world.tables.some(({ foreignKeys }) => foreignKeys.some(({ target }) => target === name))
  const isFree = ({ name, foreignKeys, view, partitioned }: TableSketch): boolean =>
    foreignKeys.length === 0 && view === undefined && partitioned === undefined && !isReferred(name)
  return {
    ...world,
    tables: world.tables.map((table) => (isFree(table) && draw.chance(45) ? withHeir(draw, table) : table)),
  }
}

function withHeir(draw: Draw, table: TableSketch): TableSketch {
  const strict = table.columns.filter(({ name, notNull }) => notNull && !table.primaryKey.includes(name))
  const nullable = draw.some(strict, 70).map(({ name }) => name)
  const from = draw.int(table.rows.length + 1)
  const cells = (row: TableSketch['rows'][number]): TableSketch['rows'][number] =>
    row.map((cell, place) => (nullable.includes(table.columns[place]?.name ?? '') && draw.chance(60) ? null : cell))
  return {
    ...table,
    heir: { from, nullable },
    grants: Object.fromEntries(
      Object.entries(table.grants).map(([role, { select }]) => [role, { ...readers, select }]),
    ),
    rows: table.rows.map((row, place) => (place < from ? row : cells(row))),
  }
}

/** The same rows in the tables themselves. */
export const withoutHeirs = (world: World): World => ({
  ...world,
  tables: world.tables.map(({ heir, ...table }) => ({
    ...table,
    columns: table.columns.map((column) => ({
      ...column,
      notNull: column.notNull && heir?.nullable.includes(column.name) !== true,
    })),
  })),
})
