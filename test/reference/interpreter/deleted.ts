import type { ApiTable } from './api-types.ts'
import type { Row } from './store.ts'
import { columnNamed, grantsOf, type Json, type Role, type TableSketch, type Value } from './world.ts'

/** Soft-deleted rows (spec/graphql.md 17.5). */

type Condition = (row: Row) => boolean | null

/** Null if the comment names no usable marker. */
function markOf(table: TableSketch): 'time' | 'flag' | null {
  const column = table.columns.find(({ name }) => name === table.softDelete)
  if (column === undefined || column.type.list) return null
  if (column.type.base === 'bool') return 'flag'
  return ['timestamptz', 'timestamp'].includes(column.type.base) && !column.notNull ? 'time' : null
}

/** Whether rows of the table may be soft-deleted. */
export const mayBeDeleted = (table: TableSketch): boolean => table.softDelete !== undefined && markOf(table) !== null

const isDeleted = (table: TableSketch, row: Row): boolean => {
  const value = row.get(table.softDelete ?? '') ?? null
  return markOf(table) === 'flag' ? value === true : value !== null
}

/** Whether a row is included, by the argument for deleted ones. */
export function isMeant(table: TableSketch, row: Row, asked: Json | undefined): boolean {
  if (!mayBeDeleted(table) || asked === 'WITH') return true
  return isDeleted(table, row) === (asked === 'ONLY')
}

/** Its combination with another condition. */
export const amongMeant =
  ({ sketch }: ApiTable, asked: Json | undefined, condition: Condition | null): Condition =>
  (row) =>
    isMeant(sketch, row, asked) && (condition === null || condition(row))

/** The changes of a soft deletion; null if rows are removed. A time is only known to be one. */
export const markChange = (table: TableSketch): ReadonlyMap<string, () => Value> | null =>
  mayBeDeleted(table) ? new Map([[table.softDelete ?? '', () => true]]) : null

const isGranted = (grant: 'all' | readonly string[], name: string): boolean => grant === 'all' || grant.includes(name)

/** A role that cannot read the marker sees nothing of the table. */
export const seesMark = (table: TableSketch, role: Role): boolean =>
  !mayBeDeleted(table) || isGranted(grantsOf(table, role).select, columnNamed(table, table.softDelete ?? '').name)

/** Whether the role has fields that delete rows. */
export function mayDelete({ sketch, grants }: ApiTable): boolean {
  if (!grants.delete || sketch.softDelete === undefined) return grants.delete
  return mayBeDeleted(sketch) && isGranted(grants.update, sketch.softDelete)
}
