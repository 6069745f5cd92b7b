import type { ScalarName } from '../contract/scalar-names.ts'
import type { OperatorName } from './operators.ts'

/** Facts about the values of a scalar, independent of their Postgres type. */
interface Scalar {
  /** The operators of its filter (spec/graphql.md 4.1); empty: no filter. */
  readonly operators: readonly OperatorName[]
  /** Whether its arrays can be filtered. */
  readonly lists: boolean
  /** The maximum length of a value's JSON in characters; Infinity: no useful bound (PostgreSQL manual 8.1, 8.5). */
  readonly longestJson: number
}

const ordered = ['eq', 'gt', 'gte', 'in', 'is', 'lt', 'lte', 'neq'] as const
const text = ['ilike', 'iregex', 'like', 'regex', 'startsWith'] as const
const unfiltered = { operators: [], lists: false, longestJson: Infinity } as const

export const scalarTable: Readonly<Record<ScalarName, Scalar>> = {
  ID: { operators: ['eq'], lists: false, longestJson: Infinity },
  // -2147483648
  Int: { operators: ordered, lists: true, longestJson: 11 },
  Float: { operators: ordered, lists: true, longestJson: Infinity },
  String: { operators: [...ordered, ...text], lists: true, longestJson: Infinity },
  Boolean: { operators: ['eq', 'is'], lists: true, longestJson: 5 },
  // "5874897-12-31"
  Date: { operators: ordered, lists: true, longestJson: 15 },
  // "23:59:59.999999"
  Time: { operators: ordered, lists: true, longestJson: 17 },
  // "4713-12-31T23:59:59.999999+15:59:59 BC"
  Datetime: { operators: ordered, lists: true, longestJson: 40 },
  // -9223372036854775808
  BigInt: { operators: ordered, lists: true, longestJson: 20 },
  UUID: { operators: ['eq', 'in', 'is', 'neq'], lists: true, longestJson: 38 },
  JSON: unfiltered,
  Cursor: unfiltered,
  BigFloat: { operators: ordered, lists: true, longestJson: Infinity },
  Opaque: { operators: ['eq', 'is'], lists: false, longestJson: Infinity },
  // Its filter has operators of its own: spatial.ts.
  GeoJSON: unfiltered,
}

export const hasFilter = (name: ScalarName): boolean => scalarTable[name].operators.length > 0
