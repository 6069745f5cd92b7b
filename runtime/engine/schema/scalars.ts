import {
  GraphQLBoolean,
  GraphQLError,
  GraphQLFloat,
  GraphQLID,
  GraphQLInt,
  GraphQLScalarType,
  GraphQLString,
  Kind,
  print,
  type ValueNode,
} from 'graphql'
import type { ScalarName } from '../../contract/scalar-names.ts'
import { roundedNumber, wholeText } from '../../lib/json.ts'
import { readScalar, type ScalarValue } from '../values/scalar-values.ts'
import { geoJson } from './geojson.ts'
import { asGraphqlError } from './as-graphql-error.ts'

/**
 * The scalars of spec/graphql.md 3.5. Parsing decides only the kind of value (a string, a number); Postgres decides
 * whether the text is a date or a UUID. Custom scalars throw GraphQLErrors with the texts that existing clients know,
 * so that validation reports them word for word.
 */

/** Names the literal of the document; for a value in a variable graphql-js adds the position. */
const scalarError = (message: string, node?: ValueNode): GraphQLError =>
  new GraphQLError(message, node && { nodes: node })

const invalid = (name: string, node?: ValueNode): GraphQLError => scalarError(`Invalid input for ${name} type`, node)

const stringScalar = (name: ScalarName, description: string): GraphQLScalarType =>
  new GraphQLScalarType({
    name,
    description,
    parseValue: (value) => asGraphqlError(() => readScalar[name](value)),
    parseLiteral: (node) => {
      if (node.kind === Kind.STRING) return node.value
      throw invalid(name, node)
    },
  })

/** Numbers in documents keep the digits that were written; numbers in variables were read without loss (request.ts). */
const bigInt = new GraphQLScalarType({
  name: 'BigInt',
  description: 'An integer of up to 64 bits. It is written as a string, because JSON readers lose digits beyond 2^53.',
  parseValue: (value) => asGraphqlError(() => readScalar.BigInt(value)),
  parseLiteral: (node) => {
    if (node.kind === Kind.STRING) return node.value
    if (node.kind === Kind.INT || node.kind === Kind.FLOAT) return wholeText(node.value)
    throw invalid('BigInt', node)
  },
})

const bigFloat = new GraphQLScalarType({
  name: 'BigFloat',
  description: 'A decimal number of any precision, written as a string so that no digit is lost.',
  parseValue: (value) => asGraphqlError(() => readScalar.BigFloat(value)),
  parseLiteral: (node) => {
    if (node.kind === Kind.STRING) return node.value
    throw scalarError('Invalid input for BigFloat type. String required', node)
  },
})

const opaqueLiteral = (node: ValueNode): ScalarValue => {
  switch (node.kind) {
    case Kind.STRING:
    case Kind.INT:
    case Kind.FLOAT:
    case Kind.ENUM:
      return node.value
    case Kind.BOOLEAN:
      return node.value
    case Kind.LIST:
      throw scalarError('Unexpected array in input value array', node)
    case Kind.OBJECT:
      throw scalarError('Unexpected object in input value', node)
    case Kind.NULL:
    case Kind.VARIABLE:
      throw invalid('Opaque', node)
  }
}

const opaque = new GraphQLScalarType({
  name: 'Opaque',
  description: 'A value of a type that has no GraphQL type of its own, as Postgres writes it.',
  parseValue: (value) => asGraphqlError(() => readScalar.Opaque(value)),
  parseLiteral: opaqueLiteral,
})

/** A number with more digits than a double arrives as another type, which graphql-js does not accept as a number. */
const readsAllNumbers = (scalar: GraphQLScalarType): GraphQLScalarType => {
  const config = scalar.toConfig()
  return new GraphQLScalarType({ ...config, parseValue: (value) => config.parseValue(roundedNumber(value)) })
}

/** A number outside of a double's range is refused in a document as in a variable. */
const float = new GraphQLScalarType({
  ...readsAllNumbers(GraphQLFloat).toConfig(),
  parseLiteral: (node) => {
    const value: unknown = GraphQLFloat.parseLiteral(node)
    if (Number.isFinite(value)) return value
    throw scalarError(`Float cannot represent non numeric value: ${print(node)}`, node)
  },
})

export const scalars: Readonly<Record<ScalarName, GraphQLScalarType>> = {
  ID: readsAllNumbers(GraphQLID),
  Int: readsAllNumbers(GraphQLInt),
  Float: float,
  String: GraphQLString,
  Boolean: GraphQLBoolean,
  Date: stringScalar('Date', 'A calendar day without a time, for example "2024-02-29".'),
  Time: stringScalar('Time', 'A time of day without a date, for example "18:23:00".'),
  Datetime: stringScalar('Datetime', 'A date and a time, for example "2024-02-29T18:23:00+00:00".'),
  BigInt: bigInt,
  UUID: stringScalar('UUID', 'A universally unique identifier, for example "7e6bb18a-1a35-4d2b-9c5f-6a3b8e0c2d11".'),
  JSON: stringScalar('JSON', 'A JSON value, written as a string that holds its text.'),
  Cursor: stringScalar(
    'Cursor',
    'A place in a collection, taken from an earlier page. Its content is not meant to be read.',
  ),
  BigFloat: bigFloat,
  Opaque: opaque,
  GeoJSON: geoJson,
}
