import { addDecimals, divideDecimal, printDecimal, quotient, readDecimal } from './decimal.ts'
import type { Row } from './store.ts'
import { compareValues, rulesOf } from './types.ts'
import type { ColumnSketch, ColumnType, Json, Value, World } from './world.ts'

export type FigureName = 'sum' | 'avg' | 'min' | 'max'

/**
 * One figure over the values that are not null; null if there are none (spec/graphql.md 6). Numbers pass through a
 * float.
 */
export function figure(world: World, name: FigureName, column: ColumnSketch, rows: readonly Row[]): Json {
  const values = rows.map((row) => row.get(column.name) ?? null).filter((value) => value !== null)
  if (values.length === 0) return null
  const { number } = rulesOf(column.type)
  if (name === 'min' || name === 'max') {
    const sorted = [...values].sort((a, b) => compareValues(world, column.type, a, b))
    const extreme = (name === 'min' ? sorted[0] : sorted[sorted.length - 1]) as Value
    return number ? Number(extreme) : extreme
  }
  const sum = values.map((value) => readDecimal(String(value))).reduce(addDecimals)
  return Number(printDecimal(name === 'sum' ? sum : divideDecimal(sum, values.length)))
}

/** Further figures of groups (spec/graphql.md 17.2). */
export type GroupFigure = FigureName | 'countDistinct' | 'every' | 'some'

export const isFigure = (name: string): name is FigureName => ['sum', 'avg', 'min', 'max'].includes(name)

/** A figure with its final value: a count or a flag. */
function plainFigure(world: World, name: GroupFigure, { type }: ColumnSketch, values: readonly Value[]): Value {
  if (name !== 'countDistinct') {
    if (values.length === 0) return null
    return name === 'every' ? values.every((value) => value === true) : values.includes(true)
  }
  return String(different(world, type, values).length)
}

const different = (world: World, type: ColumnType, values: readonly Value[]): readonly Value[] =>
  values.filter((value, index) => values.findIndex((other) => compareValues(world, type, other, value) === 0) === index)

/** Distinct values in ascending order (spec/graphql.md 17.2). */
export const leastValues = (
  world: World,
  column: ColumnSketch,
  rows: readonly Row[],
  atMost: number,
): readonly Value[] =>
  different(world, column.type, presentValues(column, rows))
    .toSorted((a, b) => compareValues(world, column.type, a, b))
    .slice(0, atMost)

export function groupFigure(world: World, name: GroupFigure, column: ColumnSketch, rows: readonly Row[]): Json {
  if (isFigure(name)) return figure(world, name, column, rows)
  const value = plainFigure(world, name, column, presentValues(column, rows))
  return name === 'countDistinct' ? Number(value) : value
}

const presentValues = (column: ColumnSketch, rows: readonly Row[]): readonly Value[] =>
  rows.map((row) => row.get(column.name) ?? null).filter((value) => value !== null)

/** The same with all digits, as a value of the column or as a `numeric`: for comparing and sorting groups. */
export function exactFigure(world: World, name: GroupFigure, column: ColumnSketch, rows: readonly Row[]): Value {
  const values = presentValues(column, rows)
  if (!isFigure(name)) return plainFigure(world, name, column, values)
  if (values.length === 0) return null
  if (name === 'min' || name === 'max') {
    const sorted = [...values].sort((a, b) => compareValues(world, column.type, a, b))
    return (name === 'min' ? sorted[0] : sorted[sorted.length - 1]) ?? null
  }
  const sum = values.map((value) => readDecimal(String(value))).reduce(addDecimals)
  return printDecimal(name === 'sum' ? sum : quotient(sum, values.length))
}

/** Interpolated between the two neighbouring values. */
export function percentile(at: number, column: ColumnSketch, rows: readonly Row[]): Json {
  const values = presentValues(column, rows)
    .map(Number)
    .sort((a, b) => a - b)
  if (values.length === 0) return null
  const place = at * (values.length - 1)
  const [below = 0, above = 0] = [values[Math.floor(place)], values[Math.ceil(place)]]
  return below + (place - Math.floor(place)) * (above - below)
}
