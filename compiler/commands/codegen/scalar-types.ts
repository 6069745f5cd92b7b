import type { ScalarName } from '../../../runtime/contract/scalar-names.ts'

/** What a scalar is in TypeScript: TABLE. */
export interface ScalarFacts {
  /** Type of an answered value. */
  readonly output: string
  /** Type of a value that is sent. */
  readonly input: string
  /** What its values can be read as instead of text, which is a type of TypeScript as well. */
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
 * Figures of an aggregate that declare one of these scalars are JSON's own numbers (spec/graphql.md 6), unless they are
 * of a column that is text, such as money.
 */
export const numericScalars: ReadonlySet<string> = new Set<ScalarName>(['Int', 'BigInt', 'Float', 'BigFloat'])

/** Scalars that are read as something else than they are sent. */
export type Readings = Readonly<Partial<Record<ScalarName, ReadAs>>>

/** What can be asked for, as `BigInt=bigint`. */
export const possibleReadings: readonly string[] = Object.entries(scalarFacts).flatMap(([name, { readAs }]) =>
  readAs === undefined ? [] : [`${name}=${readAs}`],
)

/** `BigInt=bigint,Datetime=Date` -> readings; the part that says nothing of the kind when there is one. */
export function parseReadings(text: string): { readonly readings: Readings } | { readonly unknown: string } {
  const given = text.split(',').map((part) => part.trim())
  const unknown = given.find((part) => !possibleReadings.includes(part))
  return unknown === undefined
    ? { readings: Object.fromEntries(given.map((part) => part.split('='))) as Readings }
    : { unknown }
}
