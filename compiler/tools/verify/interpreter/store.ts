import type { Claims } from './policies.ts'
import { allows } from './policies.ts'
import type { Command, TableSketch, Value, World } from './world.ts'

/**
 * A row by column name. Rows and stores are never changed: a change makes new ones, and the old store is the snapshot
 * before.
 */
export type Row = ReadonlyMap<string, Value>

export interface Store {
  readonly rows: ReadonlyMap<string, readonly Row[]>
  /** The next identity value by table. */
  readonly next: ReadonlyMap<string, number>
}

export const firstIdentity = 1001

export const storeOf = (world: World): Store => ({
  rows: new Map(world.tables.map((table) => [table.name, table.rows.map((cells) => rowOf(table, cells))])),
  next: new Map(world.tables.map((table) => [table.name, firstIdentity])),
})

const rowOf = (table: TableSketch, cells: readonly Value[]): Row =>
  new Map(table.columns.map((column, index) => [column.name, cells[index] ?? null]))

export const rowsOf = (store: Store, table: string): readonly Row[] => store.rows.get(table) ?? []

export const withRows = (store: Store, table: string, rows: readonly Row[]): Store => ({
  ...store,
  rows: new Map([...store.rows, [table, rows]]),
})

/** The rows that row-level security lets the caller reach for this command. */
export const visibleRows = (
  store: Store,
  table: TableSketch,
  claims: Claims,
  command: Command = 'select',
): readonly Row[] => rowsOf(store, table.name).filter((row) => allows(table, claims, command, row))
