import type { ApiTable } from './api.ts'
import { Refused } from './refusal.ts'
import type { Row } from './store.ts'
import { decodeToken, encodeToken } from './tokens.ts'
import { compareValues, readValue, toTokenText } from './types.ts'
import type { ColumnSketch, Json, Value, World } from './world.ts'

/** One element of an order; `nullsFirst` as it is read from left to right. */
export interface Term {
  readonly column: ColumnSketch
  readonly descending: boolean
  readonly nullsFirst: boolean
}

export interface PageArguments {
  readonly first: number | null
  readonly last: number | null
  readonly offset: number | null
  readonly before: readonly (string | null)[] | null
  readonly after: readonly (string | null)[] | null
}

type Argument = (name: string) => Json | undefined

const asList = (input: Json | undefined): readonly Json[] =>
  input === undefined || input === null ? [] : Array.isArray(input) ? input : [input as Json]

/** What was asked for, then the key, ascending, nulls last, even where it was listed before (spec/graphql.md 5.4). */
export function readOrder(table: ApiTable, input: Json | undefined): readonly Term[] {
  const asked = asList(input).flatMap((item) =>
    Object.entries(item as Record<string, Json>).flatMap(([name, direction]) => {
      const column = table.orders.get(name)
      if (column === undefined || direction === null) return []
      const text = String(direction)
      return [{ column, descending: text.startsWith('Desc'), nullsFirst: text.endsWith('First') }]
    }),
  )
  return [...asked, ...table.key.map((column) => ({ column, descending: false, nullsFirst: false }))]
}

/** The checks of section 5.2, in its order. */
export function readPage(arg: Argument, order: readonly Term[]): PageArguments {
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
  if ((before ?? after ?? []).length > order.length)
    throw new Refused('orderBy clause incompatible with pagination cursor')
  return { first, last, offset, before, after }
}

function readCursor(input: Json | undefined): readonly (string | null)[] | null {
  if (input === undefined || input === null) return null
  const token = String(input)
  const elements = decodeToken(token)
  if (elements !== undefined) return elements
  throw new Refused(...[1, 2, 3, 4].map((error) => `Failed to decode cursor, error ${error}`))
}

/** Negative when `a` stands before `b`. */
function compareCells(world: World, term: Term, a: Value, b: Value): number {
  if (a === null && b === null) return 0
  if (a === null || b === null) return (a === null) === term.nullsFirst ? -1 : 1
  const order = compareValues(world, term.column.type, a, b)
  return term.descending ? -order : order
}

export function compareRows(world: World, order: readonly Term[], a: Row, b: Row): number {
  for (const term of order) {
    const difference = compareCells(world, term, a.get(term.column.name) ?? null, b.get(term.column.name) ?? null)
    if (difference !== 0) return difference
  }
  return 0
}

/** Where a row stands to a cursor; a cursor of fewer elements stands for the whole tie group (5.5). */
function compareToCursor(world: World, order: readonly Term[], row: Row, cursor: readonly (string | null)[]): number {
  for (const [index, text] of cursor.entries()) {
    const term = order[index]
    if (term === undefined) break
    const difference = compareCells(
      world,
      term,
      row.get(term.column.name) ?? null,
      readValue(world, term.column.type, text),
    )
    if (difference !== 0) return difference
  }
  return 0
}

export const cursorOf = (order: readonly Term[], row: Row): string =>
  encodeToken(order.map(({ column }) => toTokenText(column.type, row.get(column.name) ?? null)))

export interface Page {
  readonly rows: readonly Row[]
  readonly hasNextPage: boolean
  readonly hasPreviousPage: boolean
}

/** One page of all the rows that match (5.3, 5.6, 5.7). */
export function takePage(
  world: World,
  table: ApiTable,
  order: readonly Term[],
  page: PageArguments,
  matching: readonly Row[],
): Page {
  const all = [...matching].sort((a, b) => compareRows(world, order, a, b))
  const limit = Math.min(page.first ?? page.last ?? table.maxRows, table.maxRows)
  const isBackward = page.last !== null || page.before !== null
  const { before, after } = page
  if (isBackward) {
    const earlier = before === null ? all : all.filter((row) => compareToCursor(world, order, row, before) < 0)
    const rows = limit === 0 ? [] : earlier.slice(-limit)
    return {
      rows,
      hasPreviousPage: earlier.length > limit,
      hasNextPage: rows.length > 0 && !rows.includes(all[all.length - 1] as Row),
    }
  }
  const later = after === null ? all : all.filter((row) => compareToCursor(world, order, row, after) > 0)
  const rest = later.slice(page.offset ?? 0)
  const rows = rest.slice(0, limit)
  return {
    rows,
    hasNextPage: rest.length > limit,
    hasPreviousPage: rows.length > 0 && !rows.includes(all[0] as Row),
  }
}
