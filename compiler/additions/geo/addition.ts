import { switchedOn } from '../../comments/additions.ts'
import { typeSchema, withoutOrder, type ValueFacts } from '../../model/scalars.ts'
import type { AnnotatedType } from '../../comments/annotated.ts'
import { keyAddition } from '../addition.ts'
import { geoOf, isGeoType } from './facts.ts'

const valueOf = (type: AnnotatedType): ValueFacts => ({
  ...withoutOrder,
  type: { kind: 'scalar', name: 'GeoJSON', list: false },
  typeSchema: typeSchema(type),
  json: { kind: 'geojson', schema: type.schema },
  filter: true,
})

const value = (_: unknown, type: AnnotatedType): ValueFacts | undefined => (isGeoType(type) ? valueOf(type) : undefined)

/** Geometries and geographies of PostGIS as GeoJSON (spec/graphql.md 17). */
export const geo = keyAddition(
  'geo',
  {
    on: ['schema'],
    decode: switchedOn,
    help: '{"enabled": true} serves geometry and geography of PostGIS as GeoJSON, with filters by where things are.',
  },
  {
    typeNames: ['GeoJSON', 'GeoJSONFilter', 'GeoJSONDistance'],
    manifestFacts: () => ({ geo: true }),
    values: { value, sql: geoOf },
  },
)
