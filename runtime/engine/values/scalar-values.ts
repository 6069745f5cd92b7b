import type { ScalarName } from '../../contract/scalar-names.ts'
import { isDecimal, roundedNumber, wholeText } from '../../lib/json.ts'
import { ValueFault } from './fault.ts'
import { readGeoJson } from './geojson.ts'
import { inspect } from './words.ts'

/** The scalar form of an input: text, number or boolean, ready to be bound as text. */
export type ScalarValue = string | number | boolean

/**
 * Reads a JSON value as a scalar (spec/graphql.md 3.5). Numbers beyond a double's digits come as bigint or
 * LosslessNumber.
 * @throws ValueFault in the words that existing clients know
 */
export type ReadScalar = (value: unknown) => ScalarValue

const readText =
  (name: ScalarName): ReadScalar =>
  (value) => {
    if (typeof value === 'string') return value
    throw new ValueFault(`Invalid input for ${name} type`)
  }

/** GraphQL specification 3.5.1: 32 bits. */
const [leastInt, mostInt] = [-2_147_483_648, 2_147_483_647]

const readInt: ReadScalar = (given) => {
  const value = roundedNumber(given)
  if (typeof value !== 'number' || !Number.isInteger(value))
    throw new ValueFault(`Int cannot represent non-integer value: ${inspect(value)}`)
  if (value > mostInt || value < leastInt)
    throw new ValueFault(`Int cannot represent non 32-bit signed integer value: ${value}`)
  return value
}

const readFloat: ReadScalar = (given) => {
  const value = roundedNumber(given)
  if (typeof value === 'number' && Number.isFinite(value)) return value
  throw new ValueFault(`Float cannot represent non numeric value: ${inspect(value)}`)
}

const readId: ReadScalar = (given) => {
  const value = roundedNumber(given)
  if (typeof value === 'string') return value
  if (typeof value === 'number' && Number.isInteger(value)) return value.toString()
  throw new ValueFault(`ID cannot represent value: ${inspect(value)}`)
}

const readBigInt: ReadScalar = (value) => {
  if (typeof value === 'string') return value
  if (typeof value === 'bigint' || isDecimal(value) || (typeof value === 'number' && Number.isFinite(value)))
    return wholeText(String(value))
  throw new ValueFault('Invalid input for BigInt type')
}

const readOpaque: ReadScalar = (value) => {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value
  if (typeof value === 'bigint' || isDecimal(value)) return String(value)
  throw new ValueFault(
    Array.isArray(value) ? 'Unexpected array in input value array' : 'Unexpected object in input value',
  )
}

export const readScalar: Readonly<Record<ScalarName, ReadScalar>> = {
  ID: readId,
  Int: readInt,
  Float: readFloat,
  String: (value) => {
    if (typeof value === 'string') return value
    throw new ValueFault(`String cannot represent a non string value: ${inspect(value)}`)
  },
  Boolean: (value) => {
    if (typeof value === 'boolean') return value
    throw new ValueFault(`Boolean cannot represent a non boolean value: ${inspect(value)}`)
  },
  Date: readText('Date'),
  Time: readText('Time'),
  Datetime: readText('Datetime'),
  BigInt: readBigInt,
  UUID: readText('UUID'),
  JSON: readText('JSON'),
  Cursor: readText('Cursor'),
  BigFloat: (value) => {
    if (typeof value === 'string') return value
    throw new ValueFault('Invalid input for BigFloat type. String required')
  },
  Opaque: readOpaque,
  GeoJSON: readGeoJson,
}
