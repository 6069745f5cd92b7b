import { isJsonObject, type JsonObject, roundedNumber } from '../../lib/json.ts'
import { ValueFault } from './fault.ts'

/**
 * Geometries as GeoJSON (RFC 7946, 3.1), parsed to the text for PostGIS. Errors are reported here: PostGIS accepts much
 * that is not GeoJSON, and drops unknown members.
 */

const geoJsonFault = (problem: string): ValueFault => new ValueFault(`Invalid input for GeoJSON type: ${problem}`)

/** Coordinates as they are passed on. @throws ValueFault for other values */
type Read = (value: unknown) => unknown

function arrayItems(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value
  throw geoJsonFault('coordinates are arrays, as deep as the type of the geometry says')
}

const eachItem =
  (read: Read): Read =>
  (value) =>
    arrayItems(value).map(read)

/** PostGIS changes whole numbers beyond 64 bits. */
function readNumber(given: unknown): number {
  const value = roundedNumber(given)
  if (typeof value === 'number' && Math.abs(value) <= Number.MAX_SAFE_INTEGER) return value
  throw geoJsonFault('a position consists of numbers, none beyond 2^53')
}

function readPosition(value: unknown): readonly number[] {
  const numbers = arrayItems(value).map(readNumber)
  if (numbers.length === 2 || numbers.length === 3) return numbers
  throw geoJsonFault('a position has two or three numbers')
}

/** PostGIS prints an empty geometry with an empty list of coordinates. */
const readPoint: Read = (value) => (arrayItems(value).length === 0 ? [] : readPosition(value))

function readLine(value: unknown): unknown {
  const positions = arrayItems(value).map(readPosition)
  if (positions.length !== 1) return positions
  throw geoJsonFault('a line has two positions or more')
}

function readRing(value: unknown): unknown {
  const positions = arrayItems(value).map(readPosition)
  const [first, last] = [positions[0], positions[positions.length - 1]]
  if (positions.length >= 4 && String(first) === String(last)) return positions
  throw geoJsonFault('a ring of a polygon has four positions or more, and its last one is its first')
}

const readers: ReadonlyMap<unknown, Read> = new Map([
  ['Point', readPoint],
  ['MultiPoint', eachItem(readPosition)],
  ['LineString', readLine],
  ['MultiLineString', eachItem(readLine)],
  ['Polygon', eachItem(readRing)],
  ['MultiPolygon', eachItem(eachItem(readRing))],
])

const collection = 'GeometryCollection'
const types = [...readers.keys(), collection].join(', ')

function readGeometry(value: unknown): JsonObject {
  if (!isJsonObject(value)) throw geoJsonFault('a geometry is an object')
  const { type, coordinates, geometries } = value
  if (type === collection) {
    if (!Array.isArray(geometries)) throw geoJsonFault(`a ${collection} has "geometries"`)
    return { type, geometries: geometries.map(readGeometry) }
  }
  const read = readers.get(type)
  if (read === undefined) throw geoJsonFault(`"type" is none of ${types}`)
  if (coordinates === undefined) throw geoJsonFault(`a ${String(type)} has "coordinates"`)
  return { type, coordinates: read(coordinates) }
}

/** EPSG codes in the three common forms, and the CRS of RFC 7946. */
const crsName = /^(?:EPSG:|urn:ogc:def:crs:EPSG:[^:]*:)(\d{1,6})$/
const lonLat = /^(?:OGC:CRS84|urn:ogc:def:crs:OGC:[^:]*:CRS84)$/

/** The member `crs` of GeoJSON 2008, which PostGIS still writes; RFC 7946 has none. */
function readCrs({ crs }: JsonObject): JsonObject {
  if (crs === undefined || crs === null) return {}
  const properties = isJsonObject(crs) && crs['type'] === 'name' ? crs['properties'] : undefined
  const name = isJsonObject(properties) ? String(properties['name']) : ''
  const code = lonLat.test(name) ? '4326' : crsName.exec(name)?.[1]
  if (code === undefined) throw geoJsonFault('"crs" names no code of EPSG')
  return { crs: { type: 'name', properties: { name: `EPSG:${code}` } } }
}

/** The text of a geometry without any other members. @throws ValueFault */
export function readGeoJson(value: unknown): string {
  const geometry = readGeometry(value)
  return JSON.stringify({ ...geometry, ...readCrs(value as JsonObject) })
}
