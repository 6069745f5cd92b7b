import { exactFigure, percentile, type GroupFigure } from './aggregate.ts'
import type { ApiTable } from './api-types.ts'
import type { GroupKey } from './group-keys.ts'
import { Refused } from './refusal.ts'
import type { Surroundings } from './related.ts'
import type { Row } from './store.ts'
import type { ColumnSketch, ColumnType, Json, Value } from './world.ts'

/** The comparable and sortable figures of groups besides their key (spec/graphql.md 17.2). */

type Members = Readonly<Record<string, Json>>

const countType: ColumnType = { base: 'int8', list: false, enum: null }
const numberType: ColumnType = { base: 'numeric', list: false, enum: null }
export const isFigure = (table: ApiTable, name: string): name is GroupFigure => table.figures.has(name as GroupFigure)

/** The rows of each group. */
export type RowsOf = (group: Row) => readonly Row[]

/** The figures of a group besides its key. */
export interface Figure {
  readonly id: string
  readonly type: ColumnType
  readonly place: GroupKey['place'] | null
  readonly valueOf: (group: Row) => Value
}

export const countOf = (rowsOf: RowsOf): Figure => ({
  id: 'count',
  type: countType,
  place: null,
  valueOf: (group) => String(rowsOf(group).length),
})

export function figureOf(
  { world }: Surroundings,
  table: ApiTable,
  name: GroupFigure,
  field: string,
  rowsOf: RowsOf,
): Figure {
  const column = columnOf(table, name, field)
  const isNumber = name === 'sum' || name === 'avg'
  const isOfColumn = !isNumber && name !== 'countDistinct'
  return {
    id: `${name}.${field}`,
    type: isOfColumn ? column.type : isNumber ? numberType : countType,
    place: isOfColumn ? { table, column } : null,
    valueOf: (group) => exactFigure(world, name, column, rowsOf(group)),
  }
}

export function columnOf(table: ApiTable, name: GroupFigure, field: string): ColumnSketch {
  const column = table.figures.get(name)?.get(field)
  if (column === undefined) throw new Error(`${table.type} has no ${name} of ${field}`)
  return column
}

/** The percentiles that an input names, with the input of each. */
export function percentilesIn(table: ApiTable, input: Json, rowsOf: RowsOf): readonly (readonly [Figure, Json])[] {
  const { at, of } = input as Members
  return Object.entries((of ?? {}) as Members).flatMap(([field, said]) => {
    if (said === null || (typeof said === 'object' && Object.keys(said).length === 0)) return []
    const part = readAt(at)
    const valueOf = (group: Row): Value => {
      const value = percentile(part, columnOf(table, 'sum', field), rowsOf(group))
      return value === null ? null : String(value)
    }
    return [[{ id: `percentile.${part}.${field}`, type: numberType, place: null, valueOf }, said] as const]
  })
}

export function readAt(input: Json | undefined): number {
  const at = Number(input)
  if (!(at >= 0 && at <= 1)) throw new Refused('`at` must be from 0 to 1')
  return at
}
