import type { RecurringTime } from '../../contract/aggregates.ts'
import type { ColumnBuilder } from '../../contract/builder.ts'
import { literal, sql, trusted, type Sql } from '../../sql/tree.ts'
import type { GroupKey } from '../plan/plan-nodes.ts'
import type { Value } from '../plan/values.ts'
import { valueParameter } from './parameters.ts'

/** The keys of groups (spec/graphql.md 17.2). */

const recurringFields: Readonly<Record<RecurringTime, string>> = { DAY_OF_WEEK: 'isodow', HOUR_OF_DAY: 'hour' }

/** The number of a recurring unit of time, in the given zone; null for infinite times. */
export function recurringOf({ operand }: ColumnBuilder, time: RecurringTime, zone: Value | undefined, value: Sql): Sql {
  const isInstant = operand('').endsWith(' with time zone')
  const local = isInstant && zone !== undefined ? sql`timezone(${valueParameter(zone)}::text, ${value})` : value
  return sql`extract(${trusted(recurringFields[time])} from ${local})`
}

/** The start of the unit of time that contains a value; for a date, a date. */
export function stretchOf(builder: ColumnBuilder, { unit, zone, width }: GroupKey, value: Sql): Sql {
  const { operand } = builder
  if (width !== undefined) return beginOf(operand(''), value, valueParameter(width))
  if (unit === undefined) return value
  const cast = operand('')
  const name = literal(unit.toLowerCase())
  if (cast === '::date') return sql`date_trunc(${name}, ${value}::timestamp)::date`
  const isInstant = cast.endsWith(' with time zone')
  return isInstant && zone !== undefined
    ? sql`date_trunc(${name}, ${value}, ${valueParameter(zone)}::text)`
    : sql`date_trunc(${name}, ${value})`
}

/**
 * The start of the range that contains a number. A remainder is exact, and has the sign of the dividend: it is made
 * non-negative first.
 */
function beginOf(cast: string, value: Sql, width: Sql): Sql {
  const isFloat = cast === '::real' || cast === '::double precision'
  const isWhole = /^::(?:smallint|integer|bigint)$/.test(cast)
  const type = trusted(isFloat ? '::float8' : isWhole ? '::int8' : '::numeric')
  const [x, w] = [sql`${value}${type}`, sql`${width}${type}`]
  if (isFloat) return sql`(floor(${x} / ${w}) * ${w})${trusted(cast)}`
  const begin = sql`(${x} - mod(mod(${x}, ${w}) + ${w}, ${w}))`
  return isWhole ? sql`${begin}${trusted(cast)}` : begin
}
