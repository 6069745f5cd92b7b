import type { AggregateFacts } from '../contract/manifest.ts'
import type { ScalarName } from '../contract/scalar-names.ts'

/**
 * Postgres' base types with another scalar than Opaque (spec/graphql.md 3.1, 5.4, 6). Source of the names: PostgreSQL
 * manual, Data Types; these are pg_type.typname, not the SQL spellings.
 */
export interface PgType {
  readonly scalar: ScalarName
  /** How a value and an array of values become JSON: unchanged, as text, or as JSON's text form. */
  readonly json: 'native' | 'text' | 'json-text'
  readonly orderable: boolean
  /** True when atttypmod - 4 is the largest number of characters (spec/graphql.md 3.4). */
  readonly limited: boolean
  /** True if a value prints the same in json and jsonb, which has one text for equal numbers and documents. */
  readonly alike: boolean
  readonly aggregate: AggregateFacts
}

type Extremes = { readonly min: ScalarName | null; readonly max: ScalarName | null }

const none: AggregateFacts = { sum: null, avg: null, min: null, max: null }
const extremes = (scalar: ScalarName): Extremes => ({ min: scalar, max: scalar })
const comparedFacts = (scalar: ScalarName): AggregateFacts => ({ ...none, ...extremes(scalar) })
const summed = (sum: ScalarName, extreme: ScalarName): AggregateFacts => ({
  sum,
  avg: 'BigFloat',
  ...extremes(extreme),
})

const plain = (scalar: ScalarName, aggregate: AggregateFacts = comparedFacts(scalar)): PgType => ({
  scalar,
  json: 'native',
  orderable: true,
  limited: false,
  alike: true,
  aggregate,
})
const numberType = (scalar: ScalarName, sum: ScalarName, extreme: ScalarName): PgType =>
  plain(scalar, summed(sum, extreme))
const asText = (type: PgType): PgType => ({ ...type, json: 'text' })
const float: PgType = { ...numberType('Float', 'BigFloat', 'BigFloat'), alike: false }
const limitedText: PgType = { ...plain('String'), limited: true }
const json: PgType = { ...plain('JSON', none), json: 'json-text', orderable: false, alike: false }

/** Types that are not in the table. */
export const opaqueType: PgType = { ...plain('Opaque', none), alike: false }

export const pgTypes: ReadonlyMap<string, PgType> = new Map([
  ['int2', numberType('Int', 'BigInt', 'Int')],
  ['int4', numberType('Int', 'BigInt', 'Int')],
  ['int8', asText(numberType('BigInt', 'BigInt', 'BigInt'))],
  ['float4', float],
  ['float8', float],
  ['numeric', asText(numberType('BigFloat', 'BigFloat', 'BigFloat'))],
  ['money', numberType('Opaque', 'BigFloat', 'Opaque')],
  ['text', plain('String')],
  ['varchar', limitedText],
  ['bpchar', limitedText],
  ['char', plain('String')],
  ['name', plain('Opaque', comparedFacts('String'))],
  // Postgres has no min(boolean).
  ['bool', plain('Boolean', none)],
  ['date', plain('Date')],
  ['time', plain('Time')],
  ['timetz', plain('Opaque', comparedFacts('Time'))],
  ['timestamp', plain('Datetime')],
  ['timestamptz', plain('Datetime')],
  ['uuid', plain('UUID', none)],
  ['json', json],
  ['jsonb', json],
])

/** Types of extensions by name, in any schema. */
export const extensionTypes: ReadonlyMap<string, PgType> = new Map([['citext', plain('String')]])
