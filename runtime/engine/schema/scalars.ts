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
  GraphQLEnumType,
  GraphQLInputObjectType,
  GraphQLList,
  GraphQLNonNull,
  type GraphQLInputType,
  type GraphQLLeafType,
} from 'graphql'
import { type ScalarName, scalarNames } from '../../contract/scalar-names.ts'
import { roundedNumber, wholeText } from '../../lib/json.ts'
import { readScalar, type ScalarValue } from '../values/scalar-values.ts'
import { geoJson } from './geojson.ts'
import { asGraphqlError } from './as-graphql-error.ts'
import { listOperators, operators, type OperatorName } from '../../sql/operators.ts'
import { hasFilter, scalarTable } from '../../sql/scalars.ts'
import { writtenEnum } from '../meaning.ts'
import { spatialOperators } from '../../sql/spatial.ts'

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

/** The filter types that do not depend on the database (spec/graphql.md 4.1); they exist in every schema. */

export const filterIs = new GraphQLEnumType({
  name: 'FilterIs',
  extensions: writtenEnum,
  description: 'Tells whether a value is present.',
  values: { NULL: { description: 'The value is null.' }, NOT_NULL: { description: 'The value is present.' } },
})

export const orderByDirection = new GraphQLEnumType({
  name: 'OrderByDirection',
  extensions: writtenEnum,
  description: 'A direction to sort in, and where nulls go.',
  values: {
    AscNullsFirst: { description: 'From the smallest to the largest value, nulls before all of them.' },
    AscNullsLast: { description: 'From the smallest to the largest value, nulls after all of them.' },
    DescNullsFirst: { description: 'From the largest to the smallest value, nulls before all of them.' },
    DescNullsLast: { description: 'From the largest to the smallest value, nulls after all of them.' },
  },
})

export type OperandField = readonly [
  name: string,
  config: { readonly type: GraphQLInputType; readonly description: string },
]

export const operandType = (name: OperatorName, type: GraphQLInputType): GraphQLInputType => {
  switch (operators[name].operand) {
    case 'value':
    case 'pattern':
      return type
    case 'values':
      return new GraphQLList(new GraphQLNonNull(type))
    case 'presence':
      return filterIs
  }
}

export const comparison = (
  name: string,
  subject: string,
  names: readonly OperatorName[],
  type: GraphQLInputType,
): GraphQLInputObjectType =>
  new GraphQLInputObjectType({
    name,
    description: `Conditions on ${subject}; all that are given must hold.`,
    fields: Object.fromEntries(
      [...names]
        .sort()
        .map((operator) => [operator, { type: operandType(operator, type), description: operators[operator].help }]),
    ),
  })

export const listComparison = (name: string, type: GraphQLLeafType): GraphQLInputObjectType =>
  comparison(
    `${name}ListFilter`,
    `a list of values of type ${name}`,
    listOperators,
    new GraphQLList(new GraphQLNonNull(type)),
  )

export const scalarFilters: ReadonlyMap<ScalarName, GraphQLInputObjectType> = new Map(
  scalarNames
    .filter(hasFilter)
    .map((name) => [
      name,
      comparison(`${name}Filter`, `a value of type ${name}`, scalarTable[name].operators, scalars[name]),
    ]),
)

const distance = new GraphQLInputObjectType({
  name: 'GeoJSONDistance',
  description: 'A geometry and how far from it.',
  fields: {
    geometry: { type: new GraphQLNonNull(scalars.GeoJSON), description: 'What the distance is measured from.' },
    distance: {
      type: new GraphQLNonNull(scalars.Float),
      description: 'In metres for a geography, in units of the reference system for a geometry.',
    },
  },
})

/** The filter of geometries, and its operand; only with `geo` (spec/graphql.md 17). */
export const geoFilter = new GraphQLInputObjectType({
  name: 'GeoJSONFilter',
  description: 'Conditions on a place; all that are given must hold.',
  fields: {
    ...Object.fromEntries(
      Object.entries(spatialOperators).map(([name, { help }]) => [
        name,
        { type: name === 'dWithin' ? distance : scalars.GeoJSON, description: help },
      ]),
    ),
    is: { type: filterIs, description: operators.is.help },
  },
})

export const geoTypes = [scalars.GeoJSON, distance, geoFilter] as const

export const listFilters: ReadonlyMap<ScalarName, GraphQLInputObjectType> = new Map(
  scalarNames.filter((name) => scalarTable[name].lists).map((name) => [name, listComparison(name, scalars[name])]),
)
