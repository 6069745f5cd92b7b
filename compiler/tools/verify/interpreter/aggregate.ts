import { addDecimals, divideDecimal, printDecimal, quotient, readDecimal } from './decimal.ts'
import type { Row } from './store.ts'
import { compareValues, rulesOf } from './types.ts'
import type { ColumnSketch, Json, Value, World } from './world.ts'

export type FigureName = 'sum' | 'avg' | 'min' | 'max'

/**
 * One figure over the values that are not null; null where there are none (spec/graphql.md 6). Numbers pass through a
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

/** The same with all digits, as a value of the column or as a `numeric`: what groups are compared and sorted by. */
export function exactFigure(world: World, name: FigureName, column: ColumnSketch, rows: readonly Row[]): Value {
  const values = rows.map((row) => row.get(column.name) ?? null).filter((value) => value !== null)
  if (values.length === 0) return null
  if (name === 'min' || name === 'max') {
    const sorted = [...values].sort((a, b) => compareValues(world, column.type, a, b))
    return (name === 'min' ? sorted[0] : sorted[sorted.length - 1]) ?? null
  }
  const sum = values.map((value) => readDecimal(String(value))).reduce(addDecimals)
  return printDecimal(name === 'sum' ? sum : quotient(sum, values.length))
}
