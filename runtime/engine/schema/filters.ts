import {
  GraphQLEnumType,
  GraphQLInputObjectType,
  GraphQLList,
  GraphQLNonNull,
  type GraphQLInputType,
  type GraphQLLeafType,
} from 'graphql'
import { scalarNames, type ScalarName } from '../../contract/scalar-names.ts'
import { listOperators, operators, type OperatorName } from '../../sql/operators.ts'
import { hasFilter, scalarTable } from '../../sql/scalars.ts'
import { writtenEnum } from '../meaning.ts'
import { spatialOperators } from '../../sql/spatial.ts'
import { scalars } from './scalars.ts'

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
