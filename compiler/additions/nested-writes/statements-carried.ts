import { literal, applied, joined, sql, trusted, type Ident, type Sql } from '../../../runtime/sql/tree.ts'
import type { CarriedColumn, WriteStep } from './plan-steps.ts'
import { nullReferred } from '../../../runtime/graphql/statements/reasons.ts'
import { columnOf, type Scope } from '../../../runtime/graphql/statements/source.ts'

/**
 * Values that the steps of a change need from earlier rows (spec/graphql.md 17.6), generated keys above all: they are
 * passed in a setting of the transaction, so that no statement waits for the client.
 */

/** A JSON object: by step and column the values of all rows in order, as the text of an array; `n` is their number. */
const settingName = literal('catalograph.written')
export const writtenValues = sql`nullif(pg_catalog.current_setting(${settingName}, true), '')::jsonb`
export const counter = literal('n')

export const carriedName = ({ step, column }: CarriedColumn): Sql => literal(`${step} ${column}`)

/** The values of a step's column as an array of the type of a column here. It is read once for the whole statement. */
export const carriedValues = (scope: Scope, here: string, of: CarriedColumn): Sql =>
  sql`(select ${applied(columnOf(scope.builder, here).operands, sql`(${writtenValues} ->> ${carriedName(of)})`)})`

/**
 * The value for a column here from a row of another step, selected by its place. `always`: each row here has one there.
 */
export type ReadCarried = (scope: Scope, here: string, of: CarriedColumn, place: () => Sql, always: boolean) => Sql

export const fromSetting: ReadCarried = (scope, here, of, place) => sql`${carriedValues(scope, here, of)}[${place()}]`

/**
 * The value that a column here takes from the first of these. Null refers to no row, and would detach the row: it
 * refuses the field.
 */
export function referring(scope: Scope, here: string, values: readonly Sql[]): Sql {
  const refusal = sql`catalograph.refuse(${literal(nullReferred)})::text`
  return sql`coalesce(${joined([...values, applied(columnOf(scope.builder, here).operand, refusal)], ', ')})`
}

/** Values of rows in insertion order, as the text of an array. */
export const carriedPairs = (
  { id, carried }: Pick<WriteStep, 'id' | 'carried'>,
  from: Ident,
  column: (name: string) => Sql,
): readonly (readonly [name: Sql, value: Sql])[] =>
  carried.map((name) => [
    carriedName({ step: id, column: name }),
    sql`(select coalesce(array_agg((${column(name)})::text), '{}')::text from ${from})`,
  ])

/** Adds members to the setting; the first step of a field resets it. Its answer is JSON. */
export function keeping(isFirst: boolean, pairs: readonly (readonly [name: Sql, value: Sql])[]): Sql {
  if (pairs.length === 0) return sql`'null'::json`
  const made = sql`jsonb_build_object(${joined(pairs.flat(), ', ')})`
  const whole = isFirst ? made : sql`coalesce(${writtenValues}, '{}') || ${made}`
  return sql`to_json(pg_catalog.set_config(${settingName}, (${whole})::text, true) is null)`
}

export const equal = (scope: Scope, column: string, value: Sql): Sql =>
  sql`${scope.column(column)} ${trusted(columnOf(scope.builder, column).order?.['='] ?? '=')} ${value}`
