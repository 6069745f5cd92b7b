import type { Json } from './world.ts'

/** Points and axis-parallel boxes, and PostGIS' predicates of two of them (`geo`, spec/graphql.md 17). */

/** The member of GeoJSON that names a reference system other than longitude and latitude. */
export const crsOf = (srid: number): { readonly crs: Json } => ({
  crs: { type: 'name', properties: { name: `EPSG:${srid}` } },
})

/** A geometry as it is answered. */
export function withCrs(srid: number | undefined, geometry: { readonly [member: string]: Json }): Json {
  const { type = null, ...members } = geometry
  return srid === undefined ? geometry : { type, ...crsOf(srid), ...members }
}

interface Box {
  readonly left: number
  readonly right: number
  readonly bottom: number
  readonly top: number
}

type Position = readonly [x: number, y: number]

function boxOf(text: string): Box {
  const { type, coordinates } = JSON.parse(text) as { readonly type: string; readonly coordinates: never }
  const corners: readonly Position[] = type === 'Point' ? [coordinates] : coordinates[0]
  const [xs, ys] = [corners.map(([x]) => x), corners.map(([, y]) => y)]
  return { left: Math.min(...xs), right: Math.max(...xs), bottom: Math.min(...ys), top: Math.max(...ys) }
}

const isPoint = ({ left, right }: Box): boolean => left === right

/** The distance of two intervals; 0 if they touch. */
const gap = (low: number, high: number, otherLow: number, otherHigh: number): number =>
  Math.max(otherLow - high, low - otherHigh, 0)

const distance = (a: Box, b: Box): number =>
  Math.hypot(gap(a.left, a.right, b.left, b.right), gap(a.bottom, a.top, b.bottom, b.top))

/** No part of the other is outside, and some part of it inside: a common border is not enough. */
function contains(a: Box, b: Box): boolean {
  if (isPoint(b) && !isPoint(a)) return a.left < b.left && b.left < a.right && a.bottom < b.bottom && b.bottom < a.top
  return a.left <= b.left && b.right <= a.right && a.bottom <= b.bottom && b.top <= a.top
}

type Meets = (value: Box, operand: Box) => boolean

const operators: Readonly<Record<string, Meets>> = {
  contains,
  intersects: (value, operand) => distance(value, operand) === 0,
  within: (value, operand) => contains(operand, value),
}

export const spatialOperators = ['contains', 'dWithin', 'intersects', 'is', 'within']

/** Whether a value meets a condition; null where the value is null. */
export function readSpatial(operator: string, input: Json): (value: string | null) => boolean | null {
  const given = input as { readonly geometry: Json; readonly distance: number }
  const operand = boxOf(JSON.stringify(operator === 'dWithin' ? given.geometry : input))
  const meets = operator === 'dWithin' ? (value: Box) => distance(value, operand) <= given.distance : undefined
  return (value) => {
    if (value === null) return null
    return meets?.(boxOf(value)) ?? operators[operator]?.(boxOf(value), operand) ?? null
  }
}
