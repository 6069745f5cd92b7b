import { GraphQLScalarType, valueFromASTUntyped } from 'graphql'
import { readGeoJson } from '../values/geojson.ts'
import { asGraphqlError } from './as-graphql-error.ts'

export const geoJson = new GraphQLScalarType({
  name: 'GeoJSON',
  description:
    'A geometry as an object of GeoJSON (RFC 7946), for example {"type": "Point", "coordinates": [13.4, 52.5]}. ' +
    'A member "crs" tells coordinates that are not longitude and latitude.',
  parseValue: (value) => asGraphqlError(() => readGeoJson(value)),
  // Variables inside a literal are not supported: a variable stands for a whole geometry.
  parseLiteral: (node) => asGraphqlError(() => readGeoJson(valueFromASTUntyped(node)), node),
})
