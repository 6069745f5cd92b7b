import type { ApiTable } from './api-types.ts'
import { apiTableOf } from './api.ts'
import { elementText, readElement } from './elements.ts'
import type { JsonNode } from './json.ts'
import { Refused } from './refusal.ts'
import { relatedRows, type Surroundings } from './related.ts'
import type { Row } from './store.ts'
import { decodeToken, encodeToken } from './tokens.ts'
import { rankOf } from './text-search.ts'
import { compareValues } from './types.ts'
import type { ColumnSketch, ColumnType, Json, Value, World } from './world.ts'

/** One element of an order; `nullsFirst` as it is read from left to right. */
export interface Term {
  /** Equal for equivalent elements. */
  readonly id: string
  readonly type: ColumnType
  /** The column of the value, and its table; null for a count. */
  readonly place: { readonly table: ApiTable; readonly column: ColumnSketch } | null
  readonly valueOf: (row: Row) => Value
  readonly descending: boolean
  readonly nullsFirst: boolean
}

export interface PageArguments {
  readonly first: number | null
  readonly last: number | null
  readonly offset: number | null
  readonly before: readonly JsonNode[] | null
  readonly after: readonly JsonNode[] | null
}

type Argument = (name: string) => Json | undefined

export const asList = (input: Json | undefined): readonly Json[] =>
  input === undefined || input === null ? [] : Array.isArray(input) ? input : [input]

/** The default order of the table, as far as the role can sort by it (spec/graphql.md 17.5). */
export const defaultOrder = ({ sketch, orders }: ApiTable): readonly Json[] =>
  (sketch.defaultOrder ?? []).flatMap(({ column, direction }) => {
    const found = [...orders].find(([, one]) => one.name === column)
    return found === undefined ? [] : [{ [found[0]]: direction }]
  })

/** The given order, then the key, ascending, nulls last, even if it was listed before (spec/graphql.md 5.4). */
export function readOrder(around: Surroundings, table: ApiTable, input: Json | undefined): readonly Term[] {
  const asked = (input === undefined ? defaultOrder(table) : asList(input)).flatMap((item) =>
    readTerms(around, table, item, '', (row) => row),
  )
  const key = table.key.map((column) => columnTerm(table, column, '', (row) => row, 'AscNullsLast'))
  return [...asked, ...key]
}

/** From a row of the collection to the row of the key, if any. */
export type Way = (row: Row) => Row | undefined

function columnTerm(table: ApiTable, column: ColumnSketch, path: string, way: Way, direction: Json): Term {
  const valueOf = (row: Row): Value => way(row)?.get(column.name) ?? null
  return {
    id: `${path}.${column.name}`,
    type: column.type,
    place: { table, column },
    valueOf,
    ...readDirection(direction),
  }
}

interface Rank {
  readonly query: string
  readonly direction: string
}

function rankTerm({ name, type }: ColumnSketch, path: string, way: Way, { query, direction }: Rank): Term {
  const isVector = type.base === 'tsvector'
  return {
    id: `${path}.${name}Rank ${query}`,
    type: rankType,
    place: null,
    valueOf: (row) => rankOf(isVector, query, way(row)?.get(name) ?? null),
    ...readDirection(direction),
  }
}

const rankType: ColumnType = { base: 'float8', list: false, enum: null }

export const readDirection = (direction: Json): Pick<Term, 'descending' | 'nullsFirst'> => ({
  descending: String(direction).startsWith('Desc'),
  nullsFirst: String(direction).endsWith('First'),
})

/** spec/graphql.md 17: a related row's values are null without such a row, and so are its counts. */
export function readTerms(around: Surroundings, table: ApiTable, input: Json, path: string, way: Way): readonly Term[] {
  return Object.entries(input as Record<string, Json>).flatMap(([name, asked]): readonly Term[] => {
    if (asked === null) return []
    const column = table.orders.get(name)
    if (column !== undefined) return [columnTerm(table, column, path, way, asked)]
    const searched = table.ranks.get(name)
    if (searched !== undefined) return [rankTerm(searched, path, way, asked as unknown as Rank)]
    const relation = table.orderRelations.get(name)
    if (relation === undefined) throw new Error(`${table.type} cannot be sorted by ${name}`)
    const target = apiTableOf(around.api, relation.target)
    const relatedTo = (from: Row): readonly Row[] => relatedRows(around, table, relation, from).map(({ row }) => row)
    const next = `${path}.${name}`
    if (!relation.many) return readTerms(around, target, asked, next, (row) => relatedTo(way(row) ?? new Map())[0])
    const direction = (asked as Record<string, Json>)['count'] ?? null
    const valueOf = (row: Row): Value => {
      const there = way(row)
      return there === undefined ? null : String(relatedTo(there).length)
    }
    return direction === null ? [] : [{ id: next, type: countType, place: null, valueOf, ...readDirection(direction) }]
  })
}

const countType: ColumnType = { base: 'int8', list: false, enum: null }

/** spec/graphql.md 17: of rows that are equal in these columns, nulls included, the first in the order. */
export function readDistinct(
  { world }: Surroundings,
  table: ApiTable,
  order: readonly Term[],
  input: Json | undefined,
): (rows: readonly Row[]) => readonly Row[] {
  const columns = asList(input).map((name) => table.distinct.get(String(name)) as ColumnSketch)
  if (columns.length === 0) return (rows) => rows
  const isEqual = ({ type }: ColumnSketch, a: Value, b: Value): boolean =>
    a === null || b === null ? a === b : compareValues(world, type, a, b) === 0
  const isSameIn = (a: Row, b: Row): boolean =>
    columns.every((column) => isEqual(column, a.get(column.name) ?? null, b.get(column.name) ?? null))
  return (rows) =>
    [...rows]
      .sort((a, b) => compareRows(world, order, a, b))
      .filter((row, index, sorted) => sorted.findIndex((other) => isSameIn(other, row)) === index)
}

/** The checks of spec/graphql.md 5.2, in its order. */
export function readPage(arg: Argument, mostElements: number): PageArguments {
  const count = (name: string): number | null => {
    const value = arg(name) ?? null
    if (value !== null && Number(value) < 0) throw new Refused(`\`${name}\` must be an unsigned integer`)
    return value === null ? null : Number(value)
  }
  const [first, last, offset] = [count('first'), count('last'), count('offset')]
  const [before, after] = [readCursor(arg('before')), readCursor(arg('after'))]
  if (first !== null && last !== null) throw new Refused('only one of "first" and "last" may be provided')
  if (before !== null && after !== null) throw new Refused('only one of "before" and "after" may be provided')
  if (first !== null && before !== null) throw new Refused('"first" may only be used with "after"')
  if (last !== null && after !== null) throw new Refused('"last" may only be used with "before"')
  if (offset !== null && (last !== null || before !== null))
    throw new Refused('"offset" may only be used with "first" and "after"')
  if ((before ?? after ?? []).length > mostElements)
    throw new Refused('orderBy clause incompatible with pagination cursor')
  return { first, last, offset, before, after }
}

function readCursor(input: Json | undefined): readonly JsonNode[] | null {
  if (input === undefined || input === null) return null
  const token = String(input)
  const elements = decodeToken(token)
  if (elements !== undefined) return elements
  throw new Refused(...[1, 2, 3, 4].map((error) => `Failed to decode cursor, error ${error}`))
}

/** Negative if `a` comes before `b`. */
export function compareCells(
  world: World,
  term: Pick<Term, 'type' | 'descending' | 'nullsFirst'>,
  a: Value,
  b: Value,
): number {
  if (a === null && b === null) return 0
  if (a === null || b === null) return (a === null) === term.nullsFirst ? -1 : 1
  const order = compareValues(world, term.type, a, b)
  return term.descending ? -order : order
}

export function compareRows(world: World, order: readonly Term[], a: Row, b: Row): number {
  for (const term of order) {
    const difference = compareCells(world, term, term.valueOf(a), term.valueOf(b))
    if (difference !== 0) return difference
  }
  return 0
}

/**
 * The position of a row relative to a cursor; a cursor of fewer elements represents the whole tie group
 * (spec/graphql.md 5.5).
 */
function compareToCursor(world: World, order: readonly Term[], row: Row, cursor: readonly JsonNode[]): number {
  for (const [index, element] of cursor.entries()) {
    const term = order[index]
    if (term === undefined) break
    const difference = compareCells(world, term, term.valueOf(row), readElement(world, term.type, element))
    if (difference !== 0) return difference
  }
  return 0
}

export const cursorOf = (world: World, order: readonly Term[], row: Row): string =>
  encodeToken(order.map(({ type, valueOf }) => elementText(world, type, valueOf(row))))

export interface Page {
  readonly rows: readonly Row[]
  readonly hasNextPage: boolean
  readonly hasPreviousPage: boolean
}

/** One page of all matching rows (spec/graphql.md 5.3, 5.6, 5.7). */
export function takePage(
  world: World,
  table: ApiTable,
  order: readonly Term[],
  page: PageArguments,
  matching: readonly Row[],
): Page {
  const all = [...matching].sort((a, b) => compareRows(world, order, a, b))
  return takeOf(table.maxRows, page, all, (row, cursor) => compareToCursor(world, order, row, cursor))
}

/**
 * @param all in their order
 * @param toCursor negative if a row comes before a cursor
 */
export function takeOf(
  maxRows: number,
  page: PageArguments,
  all: readonly Row[],
  toCursor: (row: Row, cursor: readonly JsonNode[]) => number,
): Page {
  const limit = Math.min(page.first ?? page.last ?? maxRows, maxRows)
  const isBackward = page.last !== null || page.before !== null
  const { before, after } = page
  if (isBackward) {
    const earlier = before === null ? all : all.filter((row) => toCursor(row, before) < 0)
    const rows = limit === 0 ? [] : earlier.slice(-limit)
    return {
      rows,
      hasPreviousPage: earlier.length > limit,
      hasNextPage: rows.length > 0 && !rows.includes(all[all.length - 1] as Row),
    }
  }
  const later = after === null ? all : all.filter((row) => toCursor(row, after) > 0)
  const rest = later.slice(page.offset ?? 0)
  const rows = rest.slice(0, limit)
  return {
    rows,
    hasNextPage: rest.length > limit,
    hasPreviousPage: rows.length > 0 && !rows.includes(all[0] as Row),
  }
}
