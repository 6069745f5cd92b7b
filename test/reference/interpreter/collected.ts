import { apiTableOf } from './api.ts'
import type { ApiTable, Collected } from './api-types.ts'
import { amongMeant, mayBeDeleted } from './deleted.ts'
import { readChosen } from './default-filter.ts'
import { compareCells, readPage, readTerms, takeOf, type Page, type PageArguments, type Term } from './page.ts'
import type { Surroundings } from './related.ts'
import { Unknown } from './sample.ts'
import type { Row } from './store.ts'
import { encodeToken } from './tokens.ts'
import { elementText, readElement } from './elements.ts'
import type { JsonNode } from './json.ts'
import { compareText } from './types.ts'
import type { ColumnType, Json, World } from './world.ts'

/** Collections of the rows of all tables that name an interface for them (spec/graphql.md 17.9). */

/** Rows of several tables. */
export interface Mixed {
  readonly page: Page
  readonly count: number
  readonly tableOf: (row: Row) => ApiTable
  readonly cursorOf: (row: Row) => string
}

type Argument = (name: string) => Json | undefined

/** By table, the sort keys before the type and key. */
export const termsOf = (
  around: Surroundings,
  { of }: Collected,
  order: Json | undefined,
): ReadonlyMap<string, readonly Term[]> =>
  new Map(
    of.map((table) => [table.type, listed(order).flatMap((item) => readTerms(around, table, item, '', (row) => row))]),
  )

const listed = (order: Json | undefined): readonly Json[] =>
  order === undefined || order === null ? [] : Array.isArray(order) ? order : [order]

/** The checks of 5.2: a cursor may be as long as the longest order. */
export function readCollectedPage(around: Surroundings, collected: Collected, arg: Argument): PageArguments {
  const given = termsOf(around, collected, arg('orderBy')).values().next().value ?? []
  const key = Math.max(...meantOf(collected, arg).map((table) => table.key.length))
  return readPage(arg, given.length + 1 + key)
}

/** Tables without soft deletion are excluded if only deleted rows are requested. */
const meantOf = ({ of }: Collected, arg: Argument): readonly ApiTable[] =>
  of.filter(({ sketch }) => arg('deleted') !== 'ONLY' || mayBeDeleted(sketch))

/** @param rowsOf all rows of a table that the caller sees */
export function takeCollected(
  around: Surroundings,
  collected: Collected,
  arg: Argument,
  rowsOf: (table: ApiTable) => readonly Row[],
): Mixed {
  const { world } = around
  const tables = new Map<Row, ApiTable>()
  for (const table of meantOf(collected, arg)) {
    if (table.sketch.sampled === true) throw new Unknown(table.type)
    const condition = amongMeant(table, arg('deleted'), readChosen(around, table, arg('filter')))
    for (const row of rowsOf(table)) if (condition(row) === true) tables.set(row, table)
  }
  const tableOf = (row: Row): ApiTable => tables.get(row) ?? apiTableOf(around.api, '')
  const terms = termsOf(around, collected, arg('orderBy'))
  const given = (row: Row): readonly Term[] => terms.get(tableOf(row).type) ?? []
  const keyOf = (row: Row): readonly Cell[] =>
    tableOf(row).key.map((column) => ({ type: column.type, value: row.get(column.name) ?? null }))
  const compare = (a: Row, b: Row): number =>
    first([
      ...given(a).map((term, place) => {
        const other = given(b)[place] ?? term
        return compareCells(world, term, term.valueOf(a), other.valueOf(b))
      }),
      compareText(tableOf(a).type, tableOf(b).type),
      ...(tableOf(a) === tableOf(b)
        ? keyOf(a).map(({ type, value }, place) =>
            compareCells(world, ascending(type), value, keyOf(b)[place]?.value ?? null),
          )
        : []),
    ])
  /** The position of a row relative to a cursor, whose values have its type if the cursor names that. */
  const toCursor = (row: Row, cursor: readonly JsonNode[]): number => {
    const [own, { type }] = [given(row), tableOf(row)]
    const named = cursor[own.length]
    return first([
      ...own
        .slice(0, cursor.length)
        .map((term, place) =>
          compareCells(world, term, term.valueOf(row), readElement(world, term.type, cursor[place] ?? null)),
        ),
      ...(cursor.length <= own.length
        ? []
        : [named === null || named === undefined ? -1 : compareText(type, String(named))]),
      ...(named === type
        ? keyOf(row)
            .slice(0, Math.max(cursor.length - own.length - 1, 0))
            .map((cell, place) =>
              compareCells(
                world,
                ascending(cell.type),
                cell.value,
                readElement(world, cell.type, cursor[own.length + 1 + place] ?? null),
              ),
            )
        : []),
    ])
  }
  const rows = [...tables.keys()].sort(compare)
  return {
    page: takeOf(collected.maxRows, readCollectedPage(around, collected, arg), rows, toCursor),
    count: rows.length,
    tableOf,
    cursorOf: (row) => encodeToken(collectedCursor(world, tableOf(row), given(row), row)),
  }
}

interface Cell {
  readonly type: ColumnType
  readonly value: ReturnType<Term['valueOf']>
}

/** The elements of the cursor of a row. */
export const collectedCursor = (world: World, table: ApiTable, terms: readonly Term[], row: Row): readonly string[] => [
  ...terms.map(({ type, valueOf }) => elementText(world, type, valueOf(row))),
  JSON.stringify(table.type),
  ...table.key.map(({ type, name }) => elementText(world, type, row.get(name) ?? null)),
]

const first = (differences: readonly number[]): number => differences.find((difference) => difference !== 0) ?? 0

const ascending = (type: ColumnType): Pick<Term, 'type' | 'descending' | 'nullsFirst'> => ({
  type,
  descending: false,
  nullsFirst: false,
})
