import { Refused } from './refusal.ts'
import { rowsOf, withRows, type Row, type Store } from './store.ts'
import { compareValues } from './types.ts'
import {
  columnNamed,
  type ColumnType,
  type ForeignKeySketch,
  type TableSketch,
  type UniqueSketch,
  type Value,
  type World,
} from './world.ts'

/** SQLSTATEs of the constraints that the rows of a store violate; any of them may be the first in Postgres. */
export function violations(world: World, store: Store): readonly string[] {
  return [...new Set(world.tables.flatMap((table) => tableViolations(world, store, table)))]
}

function tableViolations(world: World, store: Store, table: TableSketch): readonly string[] {
  // The rows of a view are those of its table.
  if (table.view !== undefined) return []
  const rows = rowsOf(store, table.name)
  const uniques: readonly UniqueSketch[] = [{ columns: table.primaryKey, where: null }, ...table.uniques]
  const required = table.columns.filter(({ name, notNull }) =>
    table.heir?.nullable.includes(name) === true ? false : notNull || table.primaryKey.includes(name),
  )
  return [
    ...(required.some((column) => rows.some((row) => row.get(column.name) === null)) ? ['23502'] : []),
    ...(breaksDomain(world, table, rows) ? ['23514'] : []),
    ...(uniques.some((unique) => hasTwins(world, table, unique, rows)) ? ['23505'] : []),
    ...(table.foreignKeys.some((key) => rows.some((row) => isOrphan(world, store, table, key, row))) ? ['23503'] : []),
  ]
}

const breaksDomain = (world: World, table: TableSketch, rows: readonly Row[]): boolean =>
  table.columns.some((column) => rows.some((row) => !isInDomain(world, column.type, row.get(column.name) ?? null)))

/** Whether a value, or each of its elements, passes its domain's check; null does, like an unknown outcome. */
export function isInDomain(world: World, { elementDomain, ...type }: ColumnType, value: Value): boolean {
  if (elementDomain !== undefined) {
    const element = { ...type, list: false, domain: elementDomain }
    return !Array.isArray(value) || value.every((item: Value) => isInDomain(world, element, item))
  }
  const check = world.domains?.find(({ name }) => name === type.domain)?.check ?? 'nothing'
  if (value === null || check === 'nothing') return true
  if (check === 'text') return value !== ''
  return check === 'sign' ? Number(value) >= 0 : Array.isArray(value) && value.length <= 2
}

/** Two rows with the same values, none of them null, under the index. */
function hasTwins(world: World, table: TableSketch, unique: UniqueSketch, rows: readonly Row[]): boolean {
  const indexed = rows.filter((row) => unique.where === null || row.get(unique.where) === true)
  return indexed.some((row, index) =>
    indexed.slice(index + 1).some((other) => isSame(world, table, unique.columns, row, unique.columns, other)),
  )
}

/** Whether the columns of two rows are equal, pair by pair; null equals nothing. */
export function isSame(
  world: World,
  table: TableSketch,
  columns: readonly string[],
  row: Row,
  otherColumns: readonly string[],
  other: Row,
): boolean {
  return columns.every((name, index) => {
    const value = row.get(name) ?? null
    const otherName = otherColumns[index] ?? ''
    const otherValue = other.get(otherName) ?? null
    if (value === null || otherValue === null) return false
    return compareValues(world, columnNamed(table, name).type, value, otherValue) === 0
  })
}

function isOrphan(world: World, store: Store, table: TableSketch, key: ForeignKeySketch, row: Row): boolean {
  if (key.columns.some((name) => row.get(name) === null)) return false
  return !rowsOf(store, key.target).some((parent) => isSame(world, table, key.columns, row, key.targetColumns, parent))
}

/** Removes rows and applies `on delete` to the rows that refer to them, repeatedly. */
export function removeRows(world: World, store: Store, table: TableSketch, removed: readonly Row[]): Store {
  if (removed.length === 0) return store
  let after = withRows(
    store,
    table.name,
    rowsOf(store, table.name).filter((row) => !removed.includes(row)),
  )
  for (const child of world.tables) {
    for (const key of child.foreignKeys.filter((item) => item.target === table.name && item.onDelete !== 'no action')) {
      const hit = rowsOf(after, child.name).filter((row) =>
        removed.some((parent) => isSame(world, child, key.columns, row, key.targetColumns, parent)),
      )
      after = key.onDelete === 'cascade' ? removeRows(world, after, child, hit) : clear(after, child, key, hit)
    }
  }
  return after
}

const clear = (store: Store, child: TableSketch, key: ForeignKeySketch, hit: readonly Row[]): Store =>
  withRows(
    store,
    child.name,
    rowsOf(store, child.name).map((row) =>
      hit.includes(row) ? new Map([...row, ...key.columns.map((name) => [name, null] as const)]) : row,
    ),
  )

export function requireValid(world: World, store: Store, ...others: readonly string[]): void {
  const broken = [...violations(world, store), ...others]
  if (broken.length > 0) throw new Refused(...broken)
}
