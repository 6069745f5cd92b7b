import type { RecurringTime } from '../../contract/buckets.ts'
import type { ColumnBuilder } from '../../contract/builder.ts'
import { literal } from '../../sql/literal.ts'
import { sql, trusted, type Sql } from '../../sql/tree.ts'
import type { GroupKey } from '../plan/types.ts'
import type { Value } from '../plan/values.ts'
import { valueParameter } from './parameters.ts'

/** What values have in common that come into one group (spec/graphql.md 17.2). */

const recurringFields: Readonly<Record<RecurringTime, string>> = { DAY_OF_WEEK: 'isodow', HOUR_OF_DAY: 'hour' }

/** The number of a time that recurs, in the zone that is asked for; null for infinite times. */
export function recurringOf({ operand }: ColumnBuilder, time: RecurringTime, zone: Value | undefined, value: Sql): Sql {
  const isInstant = operand('').endsWith(' with time zone')
  const local = isInstant && zone !== undefined ? sql`timezone(${valueParameter(zone)}::text, ${value})` : value
  return sql`extract(${trusted(recurringFields[time])} from ${local})`
}

/** When the unit of time begins in which a value lies: of a date, a date. */
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
 * Where the stretch of numbers begins in which a value lies. A remainder is exact, and has the sign of what is divided: it
 * is brought above zero first.
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
