import type { ScalarName } from '../../../runtime/contract/scalar-names.ts'

/** The TypeScript types of a scalar: TABLE. */
export interface ScalarFacts {
  /** Type of an answered value. */
  readonly output: string
  /** Type of a value that is sent. */
  readonly input: string
  /** The alternative to text for its values, which is a type of TypeScript as well. */
  readonly readAs?: ReadAs
}

export type ReadAs = 'bigint' | 'Date'

const text: ScalarFacts = { output: 'string', input: 'string' }

export const scalarFacts: Readonly<Record<ScalarName, ScalarFacts>> = {
  ID: text,
  Int: { output: 'number', input: 'number' },
  Float: { output: 'number', input: 'number' },
  String: text,
  Boolean: { output: 'boolean', input: 'boolean' },
  Date: text,
  Time: text,
  Datetime: { output: 'string', input: 'string | Date', readAs: 'Date' },
  BigInt: { output: 'string', input: 'string | bigint', readAs: 'bigint' },
  UUID: text,
  JSON: text,
  Cursor: text,
  BigFloat: text,
  GeoJSON: { output: 'sdk.Geometry', input: 'sdk.Geometry' },
  Opaque: { output: 'unknown', input: 'string | number | boolean' },
}

/**
 * Figures of an aggregate with one of these scalars are JSON numbers (spec/graphql.md 6), except for a column with text
 * values, such as money.
 */
export const numericScalars: ReadonlySet<string> = new Set<ScalarName>(['Int', 'BigInt', 'Float', 'BigFloat'])

/** Scalars that are read in another form than they are sent. */
export type Readings = Readonly<Partial<Record<ScalarName, ReadAs>>>

/** The possible values, as `BigInt=bigint`. */
export const possibleReadings: readonly string[] = Object.entries(scalarFacts).flatMap(([name, { readAs }]) =>
  readAs === undefined ? [] : [`${name}=${readAs}`],
)

/** `BigInt=bigint,Datetime=Date` -> readings; an invalid part as the problem. */
export function parseReadings(text: string): { readonly readings: Readings } | { readonly unknown: string } {
  const given = text.split(',').map((part) => part.trim())
  const unknown = given.find((part) => !possibleReadings.includes(part))
  return unknown === undefined
    ? { readings: Object.fromEntries(given.map((part) => part.split('='))) as Readings }
    : { unknown }
}
