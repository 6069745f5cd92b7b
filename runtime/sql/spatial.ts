/**
 * Filter operators on geometries (`geo`, spec/graphql.md 17): the functions of PostGIS, by the column's type. Each can
 * use a spatial index. For geography only functions exist that count points on the border as contained.
 */

interface SpatialOperator {
  readonly help: string
  readonly geometry: string
  readonly geography: string
}

export const spatialOperators = {
  contains: { help: 'This geometry lies within the value.', geometry: 'st_contains', geography: 'st_covers' },
  dWithin: {
    help: 'Not farther from this geometry than the distance.',
    geometry: 'st_dwithin',
    geography: 'st_dwithin',
  },
  intersects: { help: 'Shares a point with this geometry.', geometry: 'st_intersects', geography: 'st_intersects' },
  within: { help: 'The value lies within this geometry.', geometry: 'st_within', geography: 'st_coveredby' },
} as const satisfies Record<string, SpatialOperator>

export type SpatialOperatorName = keyof typeof spatialOperators
