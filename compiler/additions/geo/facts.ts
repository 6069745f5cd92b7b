import type { AnnotatedType } from '../../comments/annotated.ts'
import type { GeoSql } from '../../model/model.ts'

/** The types of PostGIS that GeoJSON can represent (`geo`, spec/graphql.md 17), in any schema. */
const geoTypes = ['geometry', 'geography'] as const

const geoKind = ({ kind, schema, name }: AnnotatedType): GeoSql['kind'] | undefined =>
  kind === 'b' && schema !== 'pg_catalog' ? geoTypes.find((type) => type === name) : undefined

export const isGeoType = (type: AnnotatedType): boolean => geoKind(type) !== undefined

/** How a type of PostGIS is read; absent for all others. The modifier is that of the column. */
export function geoOf(type: AnnotatedType, modifier: number): { readonly geo?: GeoSql } {
  const kind = geoKind(type)
  return kind === undefined ? {} : { geo: { schema: type.schema, kind, srid: sridOf(kind, modifier) } }
}

/** WGS 84: the default of a geography. */
const geodetic = 4326

/** PostGIS keeps the SRID in bits 8 to 27 of a type's modifier, 0 for none; without a modifier there is none (-1). */
function sridOf(kind: GeoSql['kind'], modifier: number): number {
  const srid = modifier < 0 ? 0 : (modifier & 0x0fffff00) >> 8
  return srid === 0 && kind === 'geography' ? geodetic : srid
}

declare module '../../../runtime/contract/manifest.ts' {
  interface Manifest {
    /** Some served schema has it on, which adds a scalar for GeoJSON. */
    readonly geo?: true
  }
}
