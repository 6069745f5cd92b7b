import { literal } from '../../runtime/sql/literal.ts'
import { ident } from '../../runtime/sql/ident.ts'
import type { AttributeSql, ColumnSql, JsonForm } from '../model/types.ts'
import { hole, jsFunction, jsString, record, type Pieces } from './js-text.ts'

/** How values of a type are read and written, as JavaScript text. */

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
      // The whole document as text: strings lose their quotes, JSON null becomes NULL (PostgreSQL manual 9.16; 3.3).
      return ['((', value, ") #>> '{}')"]
    case 'once':
      return ['(select ', ...jsonPieces(form.of).map((piece) => (piece === value ? 'r.v' : piece)), ' from ', value, ' as r(v))']
    case 'only':
      return ['(select ', ...jsonPieces(form.of), ')']
    case 'mapped-array':
      return mappedArray(form.names)
    case 'mapped':
      // An enum may have lost its last mapped label, and a CASE without WHEN is no expression.
      if (form.names.length === 0) return ['(', value, ')::text']
      return ['case (', value, `)::text${form.names.map(whenLabel).join('')} else (`, value, ')::text end']
  }
}

/**
 * Element by element and whatever the dimensions: array_replace keeps both. A label that is also the new name of
 * another would be replaced twice, so such names are reached over texts that no label can be (63 bytes at most).
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

/** Start of each entity's module: what all types have in common. */
export const valuesFunction = `/** Functions of a type's values; casts follow a text parameter, or one that holds an array. */
const values = (type, recordType, cast, listCast, json) => ({
  json,
  cursor: (value) => value,
  operand: (parameter) => parameter + cast,
  operands: (parameter) => parameter + listCast,
  recordType,
  fromRecord: (value) => '(' + value + ')::' + type,
})`

/** A call of the function above: `values('int4', 'text', '::int4', '::int4[]', (value) => value)`. */
export function valuesText(column: ColumnSql): string {
  const { type, array } = column
  const texts = [type, array ? 'text[]' : 'text', operandCast(column), listCast(column)]
  return `values(${texts.map(jsString).join(', ')}, ${jsonText(column.json)})`
}

/** How operands of a filter become values of the type: two members of an object. */
export const operandsText = (type: CastType): string =>
  `operand: ${jsFunction('parameter', [hole('parameter'), operandCast(type)])}, ` +
  `operands: ${jsFunction('parameter', [hole('parameter'), listCast(type)])}`

/** The member that tells of a composite value's attributes; nothing for other types. */
export function attributesText(attributes: readonly AttributeSql[] | undefined): string {
  if (attributes === undefined) return ''
  return `, ${record('attributes', attributes, (item) => [item.attribute, attributeText(item)])}`
}

function attributeText(item: AttributeSql): string {
  const of = jsFunction('value', ['(', value, `).${ident(item.attribute)}`])
  return `{ of: ${of}, json: ${jsonText(item.json)}, ${operandsText(item)}${attributesText(item.attributes)} }`
}

export type CastType = Pick<ColumnSql, 'type' | 'array' | 'plainDelimiter'>

/**
 * From a text parameter to the exact type. An array whose elements are not delimited by a comma goes through text[],
 * whose literals are: `::text[]::box[]`.
 */
export const operandCast = ({ type, array, plainDelimiter }: CastType): string =>
  array && !plainDelimiter ? `::text[]::${type}` : `::${type}`

const listCast = ({ type, plainDelimiter }: CastType): string =>
  plainDelimiter ? `::${type}[]` : `::text[]::${type}[]`
