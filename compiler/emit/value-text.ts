import { literal } from '../../runtime/sql/literal.ts'
import { ident } from '../../runtime/sql/ident.ts'
import { spatialOperators } from '../../runtime/sql/spatial.ts'
import type { AttributeSql, ColumnSql, GeoSql, JsonForm, OrderSql } from '../model/model.ts'
import { hole, jsFunction, jsString, table, type Hole, type Pieces } from './js-text.ts'

/** JavaScript text for reading and writing values of a type. */

const value = hole('value')

/** How a value prints in JSON (spec/graphql.md 3.1 to 3.3). */
export const jsonText = (form: JsonForm): string => jsFunction('value', jsonPieces(form))

function jsonPieces(form: JsonForm): Pieces {
  switch (form.kind) {
    case 'native':
      return [value]
    case 'text':
      return ['(', value, ')::text']
    case 'text-array':
      return ['(', value, ')::text[]']
    case 'json-text':
      // The whole document as text: strings lose their quotes, JSON null becomes NULL (PostgreSQL manual 9.16;
      // spec/graphql.md 3.3).
      return ['((', value, ") #>> '{}')"]
    case 'geojson':
      // Enough decimals for every number to be unchanged when it comes back; the default is nine.
      return [`${ident(form.schema)}.st_asgeojson(`, value, ', 40)::json']
    case 'once':
      return [
        '(select ',
        ...jsonPieces(form.of).map((piece) => (piece === value ? 'r.v' : piece)),
        ' from ',
        value,
        ' as r(v))',
      ]
    case 'only':
      return ['(select ', ...jsonPieces(form.of), ')']
    case 'mapped-array':
      return mappedArray(form.names)
    case 'mapped':
      // An enum may have lost its last mapped label, and a CASE without WHEN is invalid.
      if (form.names.length === 0) return ['(', value, ')::text']
      return ['case (', value, `)::text${form.names.map(whenLabel).join('')} else (`, value, ')::text end']
  }
}

/**
 * Element by element in all dimensions: array_replace keeps them. A label that is also the new name of another would be
 * replaced twice, so such names use intermediate texts that no label can have (63 bytes at most).
 */
function mappedArray(names: readonly (readonly [label: string, name: string])[]): Pieces {
  const labels = new Set(names.map(([label]) => label))
  const isDirect = !names.some(([, name]) => labels.has(name))
  const steps = isDirect
    ? names
    : [
        ...names.map(([label], index) => [label, `${between}${index}`] as const),
        ...names.map(([, name], index) => [`${between}${index}`, name] as const),
      ]
  return steps.reduce<Pieces>(
    (inner, [from, to]) => ['pg_catalog.array_replace(', ...inner, `, ${literal(from)}, ${literal(to)})`],
    ['(', value, ')::text[]'],
  )
}

/** Longer than a label may be (NAMEDATALEN). */
const between = '-'.repeat(64)

const whenLabel = ([label, name]: readonly [string, string]): string => ` when ${literal(label)} then ${literal(name)}`

/** Start of each entity's module: the common part of all types. */
export const valuesFunction = `/** Functions of a type's values; casts follow a text parameter, or one that holds an array. */
const values = (type, recordType, cast, listCast, json, cursor = (value) => value) => ({
  json,
  cursor,
  operand: (parameter) => parameter + cast,
  operands: (parameter) => parameter + listCast,
  recordType,
  fromRecord: (value) => '(' + value + ')::' + type,
})`

/** A call of the function above: `values('int4', 'text', '::int4', '::int4[]', (value) => value)`. */
export function valuesText(column: ColumnSql): string {
  const { type, array, geo } = column
  const texts = [type, array ? 'text[]' : 'text', operandCast(column), listCast(column)]
  const cursor = column.alike ? '' : `, ${jsFunction('value', cursorPieces(column))}`
  const common = `values(${texts.map(jsString).join(', ')}, ${jsonText(column.json)}${cursor})`
  if (column.order !== undefined) return `{ ...${common}, ${orderText(column.order)} }`
  if (column.composite)
    return `{ ...${common}, operand: ${jsFunction('parameter', fromJson(column, hole('parameter')))} }`
  if (geo === undefined) return common
  return `{ ...${common}, ${operandsText(column)}, fromRecord: ${jsFunction('value', geoPieces(geo, value))} }`
}

/** The value as JSON that prints as jsonb does, the form in cursors and node ids (spec/graphql.md 5.5). */
export const cursorPieces = ({ alike, order }: Pick<ColumnSql, 'alike' | 'order'>): Pieces =>
  // A type of an extension may have a cast to json (hstore), whose text differs from the type's own.
  order !== undefined ? ['(', value, ')::text'] : alike ? [value] : ['pg_catalog.to_jsonb(', value, ')']

/** The member with the comparison operators. */
const orderText = (order: OrderSql): string =>
  table('order', Object.entries(order), ([symbol, operator]) => [symbol, jsString(operator)])

/** The conversion of filter operands to values of the type: members of an object. */
export const operandsText = (type: CastType): string =>
  `operand: ${jsFunction('parameter', operandPieces(type, hole('parameter')))}, ` +
  `operands: ${jsFunction('parameter', [hole('parameter'), listCast(type)])}${spatialText(type.geo)}` +
  (type.order === undefined ? '' : `, ${orderText(type.order)}`)

/** From a text parameter to a value of the type. */
export const operandPieces = (type: CastType, parameter: Hole): Pieces =>
  type.geo === undefined ? [parameter, operandCast(type)] : geoPieces(type.geo, parameter)

/** From the text of a JSON object, which is the form of a composite value in a cursor, or of a list of objects. */
function fromJson({ type, array }: CastType, text: Hole): Pieces {
  if (!array) return [`pg_catalog.jsonb_populate_record(null::${type}, `, text, '::jsonb)']
  const element = `pg_catalog.jsonb_populate_record(null::${type.replace(/\[\]$/, '')}, nullif(e, 'null'::jsonb))`
  return [`array(select ${element} from pg_catalog.jsonb_array_elements(`, text, '::jsonb) e)']
}

/**
 * From the text of a GeoJSON geometry. Without a member `crs` its coordinates have the reference system of the column,
 * if it has one, or else WGS 84 (RFC 7946, 4), as in PostGIS; with one they are transformed to that of the column.
 * PostGIS reads an unknown one as absent: a transformation then fails.
 */
function geoPieces({ schema, kind, srid }: GeoSql, text: Hole): Pieces {
  const of = (name: string): string => `${ident(schema)}.${name}`
  const read: Pieces = [`${of('st_geomfromgeojson')}(`, text, '::text)']
  const known: Pieces = srid === 0 ? [`${of('st_srid')}(`, ...read, ')'] : [String(srid)]
  const plain: Pieces = srid === 0 ? read : [`${of('st_setsrid')}(`, ...read, `, ${srid})`]
  const transformed: Pieces = [`${of('st_transform')}(`, ...read, ', ', ...known, ')']
  const geometry = ['(case when ', text, "::text::jsonb ? 'crs' then ", ...transformed, ' else ', ...plain, ' end)']
  return mergedPieces(kind === 'geometry' ? geometry : [...geometry, `::${of('geography')}`])
}

/** The same text in as few pieces as possible. */
const mergedPieces = (pieces: Pieces): Pieces =>
  pieces.reduce<Pieces>((before, piece) => {
    const last = before.at(-1)
    const joins = typeof piece === 'string' && typeof last === 'string'
    return joins ? [...before.slice(0, -1), last + piece] : [...before, piece]
  }, [])

/** The member with the functions of spatial conditions. */
const spatialText = (geo: GeoSql | undefined): string =>
  geo === undefined
    ? ''
    : `, ${table('spatial', Object.entries(spatialOperators), ([name, row]) => [name, jsString(`${ident(geo.schema)}.${row[geo.kind]}`)])}`

/** The member with a composite value's attributes; empty for other types. */
export function attributesText(attributes: readonly AttributeSql[] | undefined): string {
  if (attributes === undefined) return ''
  return `, ${table('attributes', attributes, (item) => [item.attribute, attributeText(item)])}`
}

function attributeText(item: AttributeSql): string {
  const of = jsFunction('value', readPieces(['(', value, `).${ident(item.attribute)}`], item.readAs))
  return `{ of: ${of}, json: ${jsonText(item.json)}, ${operandsText(item)}${attributesText(item.attributes)} }`
}

/** An expression's value as the type that operators need. */
export const readPieces = (expression: Pieces, readAs: string | undefined): Pieces =>
  readAs === undefined ? expression : mergedPieces(['(', ...expression, `)::${readAs}`])

export type CastType = Pick<ColumnSql, 'type' | 'array' | 'plainDelimiter' | 'geo' | 'order'>

/**
 * From a text parameter to the exact type. An array whose elements are not delimited by a comma goes through text[],
 * whose literals are: `::text[]::box[]`.
 */
const operandCast = ({ type, array, plainDelimiter }: CastType): string =>
  array && !plainDelimiter ? `::text[]::${type}` : `::${type}`

const listCast = ({ type, plainDelimiter }: CastType): string =>
  plainDelimiter ? `::${type}[]` : `::text[]::${type}[]`
