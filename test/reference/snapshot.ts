import type { DatabaseFailure } from '../../runtime/db/failures/failures.ts'
import { readValue } from './interpreter/types.ts'
import {
  schemaOf,
  type BaseType,
  type ColumnType,
  type Json,
  type TableSketch,
  type World,
} from './interpreter/world.ts'
import { poolOf } from './questions/values.ts'
import { readRows, sortedTexts, type Ask } from './rows.ts'
import { withoutDangling, type NotJudged, type Sketched } from './sketch.ts'

/** A world with the role's present rows. */
export interface Snapshot {
  readonly world: World
  readonly notJudged: readonly NotJudged[]
}

/**
 * Reads the rows of every table of the world. Of tables with more than `most` rows a sample is taken, with the rows
 * that others refer to, if they have a key of one column; other large tables, and unreadable ones, are removed, and so
 * are columns with values that the interpreter has no canonical form for. Rejects with DatabaseFailure.
 */
export async function takeSnapshot(
  ask: Ask,
  world: World,
  tables: readonly Sketched[],
  most: number,
): Promise<Snapshot> {
  const notJudged: NotJudged[] = []
  const read: Sketched[] = []
  for (const sketched of tables) {
    const found = await readTable(ask, world, sketched, most)
    if ('table' in found) read.push(found)
    if ('reason' in found) notJudged.push({ object: sketched.object, reason: found.reason })
  }
  for (let step = 0; step < mostSteps; step += 1) {
    for (const [index, sketched] of read.entries()) read[index] = await withReferred(ask, world, sketched, read, most)
  }
  const kept = read.flatMap(({ table, object }) => {
    const strange = strangeColumns(world, table)
    if (strange.length > 0) notJudged.push({ object, reason: `${strange.join(', ')}: values that are not known` })
    return strange.some((name) => table.primaryKey.includes(name)) ? [] : [without(table, strange)]
  })
  const whole = { ...world, tables: kept.map((table) => withoutDangling(table, kept)) }
  return { world: { ...whole, collations: await collationsOf(ask, whole) }, notJudged }
}

/** The maximum length of followed references. */
const mostSteps = 3
const sampleSize = 200

type Found = Sketched | { readonly reason: string } | (Sketched & { readonly reason: string })

async function readTable(ask: Ask, world: World, sketched: Sketched, most: number): Promise<Found> {
  const { table, columns } = sketched
  const reading = { schema: schemaOf(world), relation: table.name, key: table.primaryKey, columns, under: null }
  try {
    const rows = await readRows(ask, { ...reading, most: most + 1 })
    if (rows.length <= most) {
      const whole = { ...sketched, table: { ...table, rows } }
      return sketched.isUnique || isToldApart(whole.table) ? whole : { reason: 'its key does not tell its rows apart' }
    }
    const reason = `more than ${most} rows are visible`
    if (!sketched.isUnique || keyColumn(sketched) === null)
      return { reason: `${reason}, and no key of one column tells them apart` }
    const sample = rows.slice(0, sampleSize)
    return {
      ...sketched,
      table: { ...table, rows: sample, sampled: true },
      reason: `${reason}: only some are asked for`,
    }
  } catch (error) {
    if (!isDatabaseFailure(error) || error.kind === 'unavailable') throw error
    return { reason: error.message }
  }
}

/** By its name: the class belongs to the product, which this package does not contain. */
const isDatabaseFailure = (error: unknown): error is DatabaseFailure =>
  error instanceof Error && error.name === 'DatabaseFailure'

/** Keys of comments are not enforced: the order of rows with one key is undefined. */
function isToldApart({ columns, primaryKey, rows }: TableSketch): boolean {
  const positions = primaryKey.map((key) => columns.findIndex(({ name }) => name === key))
  const keys = rows.map((row) => positions.map((position) => row[position] ?? null))
  const texts = new Set(keys.map((key) => JSON.stringify(key)))
  return texts.size === rows.length && keys.every((key) => !key.includes(null))
}

const keyBases: ReadonlySet<BaseType> = new Set(['int2', 'int4', 'int8', 'text', 'uuid'])

/** The position of the single key column, if it can be filtered. */
function keyColumn({ table: { primaryKey, columns } }: Sketched): number | null {
  const position = columns.findIndex(({ name }) => name === primaryKey[0])
  const type = columns[position]?.type
  return primaryKey.length === 1 && type !== undefined && keyBases.has(type.base) && !type.list ? position : null
}

/** A sample and the rows that other tables refer to. */
async function withReferred(
  ask: Ask,
  world: World,
  sketched: Sketched,
  all: readonly Sketched[],
  most: number,
): Promise<Sketched> {
  const { table, columns } = sketched
  const position = keyColumn(sketched)
  if (table.sampled !== true || position === null) return sketched
  const key = table.primaryKey[0] ?? ''
  const known = new Set(table.rows.map((row) => String(row[position])))
  const referred = all.flatMap(({ table: other }) =>
    other.foreignKeys.flatMap(({ columns: local, target, targetColumns }) => {
      const from = other.columns.findIndex(({ name }) => name === local[0])
      const isOurs = target === table.name && targetColumns.length === 1 && targetColumns[0] === key
      return isOurs && from >= 0 ? other.rows.flatMap((row) => row[from] ?? []) : []
    }),
  )
  const texts = [...new Set(referred.map(String))].filter((text) => !known.has(text))
  if (texts.length === 0) return sketched
  const under = { column: key, sql: columns[position]?.sql ?? 'text', texts }
  const more = await readRows(ask, { schema: schemaOf(world), relation: table.name, key: [key], columns, most, under })
  return { ...sketched, table: { ...table, rows: [...table.rows, ...more] } }
}

/** Columns with some cell that reading would change: `infinity`, dates before Christ, NaN. */
const strangeColumns = (world: World, { columns, rows }: TableSketch): readonly string[] =>
  columns.flatMap(({ name, type }, index) =>
    rows.every((row) => isCanonical(world, type, (row[index] ?? null) as Json)) ? [] : [name],
  )

function isCanonical(world: World, type: ColumnType, cell: Json): boolean {
  if (cell === null || type.base === 'other') return true
  // The interpreter knows arrays of one dimension.
  if (type.list && Array.isArray(cell) && cell.some(Array.isArray)) return false
  if (type.base === 'enum') return true
  if (type.base === 'date' && typeof cell === 'string') return /^\d{4}-\d\d-\d\d$/.test(cell)
  try {
    return JSON.stringify(readValue(world, type, cell)) === JSON.stringify(cell)
  } catch {
    return false
  }
}

function without(table: TableSketch, names: readonly string[]): TableSketch {
  const positions = table.columns.flatMap(({ name }, index) => (names.includes(name) ? [] : [index]))
  return {
    ...table,
    columns: table.columns.filter(({ name }) => !names.includes(name)),
    rows: table.rows.map((row) => positions.map((index) => row[index] ?? null)),
  }
}

/** For each collation, all texts that a document may contain: those of the rows and drawn ones. */
async function collationsOf(ask: Ask, world: World): Promise<Readonly<Record<string, readonly string[]>>> {
  const texts = new Map<string, Set<string>>()
  for (const { columns, rows } of world.tables) {
    columns.forEach(({ type }, index) => {
      if (type.collation === undefined) return
      const known =
        texts.get(type.collation) ?? new Set(poolOf(world, { base: 'text', list: false, enum: null }).map(String))
      texts.set(type.collation, known)
      for (const row of rows) if (typeof row[index] === 'string') known.add(row[index])
    })
  }
  const sorted: [string, readonly string[]][] = []
  for (const [collation, known] of texts) sorted.push([collation, await sortedTexts(ask, collation, [...known])])
  return Object.fromEntries(sorted)
}
