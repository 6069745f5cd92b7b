import type { Claims } from './policies.ts'
import { allows } from './policies.ts'
import { columnNamed, type Command, type TableSketch, type Value, type World } from './world.ts'

/**
 * A row by column name. Rows and stores are immutable: a change makes new ones, and the old store is the snapshot
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

/** The rows of a view are in the store of its table. */
const rowsIn = (store: Store, { name, view }: TableSketch): readonly Row[] =>
  view === undefined
    ? rowsOf(store, name)
    : rowsOf(store, view.of).filter((row) => view.flag === null || row.get(view.flag) === true)

/** Whether row-level security shows the caller a row for this command. */
export const allowsIn = (store: Store, table: TableSketch, claims: Claims, command: Command, row: Row): boolean =>
  allows((name) => rowsOf(store, name), table, claims, command, row)

export const withRows = (store: Store, table: string, rows: readonly Row[]): Store => ({
  ...store,
  rows: new Map([...store.rows, [table, rows]]),
})

/** The rows that row-level security shows the caller for this command, in SQL statements. */
export const readableRows = (
  store: Store,
  table: TableSketch,
  claims: Claims,
  command: Command = 'select',
): readonly Row[] => rowsIn(store, table).filter((row) => allowsIn(store, table, claims, command, row))

/** Those in the API: without nulls in their key (spec/graphql.md 5.8). */
export const visibleRows = (...asked: Parameters<typeof readableRows>): readonly Row[] =>
  readableRows(...asked).filter((row) => hasKey(asked[1], row))

export const hasKey = ({ primaryKey }: Pick<TableSketch, 'primaryKey'>, row: Row): boolean =>
  primaryKey.every((name) => (row.get(name) ?? null) !== null)

/** Whether it must be checked. */
export const mayLackKey = (table: TableSketch): boolean =>
  table.primaryKey.some((name) => !columnNamed(table, name).notNull)
