import { statement, type RunStatement } from '../../db/pool/statements.ts'
import type { JsonRow } from './user-columns.ts'

/** Statements as functions of their runner and their parameters' values in order, or of the input of `parameters`. */
type StoreCall<Values extends readonly unknown[], Result> = (run: RunStatement, ...values: Values) => Promise<Result>

/** A statement with effects only. */
export function defineAction<Values extends readonly unknown[]>(
  name: string,
  text: string,
  parameters: (...values: Values) => readonly unknown[] = inOrder,
): StoreCall<Values, void> {
  const action = statement<object>(name, text)
  return async (run, ...values) => void (await run(action, parameters(...values)))
}

const inOrder = (...values: readonly unknown[]): readonly unknown[] => values

/** Returns whether there is a row. */
export function defineTest<Values extends readonly unknown[]>(name: string, text: string): StoreCall<Values, boolean> {
  const test = statement<object>(name, text)
  return async (run, ...values) => (await run(test, values)).length > 0
}

/** The first row, or null. */
export function defineLookup<Row extends object, Values extends readonly unknown[]>(
  name: string,
  text: string,
  parameters: (...values: Values) => readonly unknown[] = inOrder,
): StoreCall<Values, Row | null> {
  const lookup = statement<Row>(name, text)
  return async (run, ...values) => (await run(lookup, parameters(...values)))[0] ?? null
}

/** The same for a query that ends in asJson. */
export function defineJsonLookup<Row, Values extends readonly unknown[]>(
  name: string,
  text: string,
): StoreCall<Values, Row | null> {
  const lookup = defineLookup<JsonRow<Row>, Values>(name, text)
  return async (run, ...values) => (await lookup(run, ...values))?.row ?? null
}

/** Every row. */
export function defineList<Row extends object, Values extends readonly unknown[]>(
  name: string,
  text: string,
): StoreCall<Values, readonly Row[]> {
  const list = statement<Row>(name, text)
  return (run, ...values) => run(list, values)
}
