import { ident, qualified } from '../../runtime/sql/ident.ts'
import { literal } from '../../runtime/sql/tree.ts'
import { sameJson } from '../../runtime/lib/memo/differences.ts'
import type {
  ArbiterSql,
  ColumnSql,
  EntitySql,
  ArgumentSql,
  CallSql,
  AttributeSql,
  GeoSql,
  JsonForm,
  OrderSql,
} from '../model/model.ts'
import {
  commentText,
  hole,
  jsFunction,
  jsString,
  moduleExports,
  moduleText,
  table,
  block,
  type Hole,
  type Pieces,
} from './js-text.ts'
import { spatialOperators } from '../../runtime/sql/spatial.ts'

/**
 * EntitySql -> the JavaScript text of an EntityBuilder (runtime/contract/builder.ts). The module has no imports.
 *
 * Columns of one type share its functions, which keeps wide tables short to read, to parse and to hold.
 *
 * Written as text, without ts-morph: every serving process emits builders, and the syntax tree of 2,000 modules took
 * 2.4 s and 250 MB where the text takes 0.2 s. `check` replaces the guarantees of a tree: it evaluates each module with
 * unknown lines.
 */
export function entityModule(entity: EntitySql, types: Types = columnTypesOf(entity)): string {
  const relation = qualified(entity.schema, entity.relation)
  return moduleText([
    `/** SQL builders of ${commentText(relation)}. Compiled from the database: change that, not this file. */`,
    valuesFunction,
    types.list.map(({ name, text }) => `const ${name} = ${text}`).join('\n'),
    moduleExports(entityMembers(entity, types)),
  ])
}

export const typeModule = (text: string): string => moduleText([valuesFunction, `module.exports = ${text}`])

interface NamedType {
  /** The constant with the functions of the type. */
  readonly name: string
  readonly text: string
  /** The first column of the type. */
  readonly column: ColumnSql
}

/** The distinct types of an entity's columns, in order of appearance. */
export interface Types {
  readonly list: readonly NamedType[]
  readonly byColumn: ReadonlyMap<ColumnSql, NamedType>
}

/** Columns whose values have the same functions. */
const isOneType = (a: ColumnSql, b: ColumnSql): boolean =>
  a.type === b.type &&
  a.array === b.array &&
  a.plainDelimiter === b.plainDelimiter &&
  a.alike === b.alike &&
  sameJson(a.json, b.json) &&
  sameJson(a.geo, b.geo) &&
  sameJson(a.order, b.order)

export function columnTypesOf({ columns }: EntitySql): Types {
  const list: NamedType[] = []
  const taken = new Set<string>()
  const byColumn = new Map<ColumnSql, NamedType>()
  for (const column of columns) {
    const known = list.find((one) => isOneType(one.column, column))
    const type = known ?? nameType(column, taken)
    if (known === undefined) list.push(type)
    taken.add(type.name)
    byColumn.set(column, type)
  }
  return { list, byColumn }
}

function nameType(column: ColumnSql, taken: ReadonlySet<string>): NamedType {
  const word = column.type
    .replaceAll('[]', '_array')
    .replace(/[^A-Za-z0-9]+/g, '_')
    .replace(/^_|_$/g, '')
  return { name: freeName(`as_${word}`, taken), text: valuesText(column), column }
}

function freeName(wanted: string, taken: ReadonlySet<string>): string {
  for (let count = 1; ; count++) {
    const name = count === 1 ? wanted : `${wanted}_${count}`
    if (!taken.has(name)) return name
  }
}

function entityMembers(entity: EntitySql, types: Types): readonly string[] {
  const { schema, relation, columns, computed, tenant, arbiters, presets } = entity
  return [
    `relation: ${jsString(qualified(schema, relation))}`,
    table('columns', columns, (column) => [column.column, builtColumn(column, types.byColumn.get(column)?.name ?? '')]),
    `nodeId: ${nodeIdText(entity)}`,
    table('computed', computed, (field) => [field.id, computedText(field)]),
    ...(tenant === undefined ? [] : [`tenant: ${jsString(tenant)}`]),
    ...(arbiters === undefined ? [] : [table('arbiters', arbiters, (key) => [key.name, jsString(arbiterSql(key))])]),
    ...(presets === undefined ? [] : [`presets: [${presets.map(jsString).join(', ')}]`]),
  ]
}

function builtColumn({ column, notNull, collation, readAs, attributes }: ColumnSql, type: string): string {
  const of = jsFunction('row', readPieces([hole('row'), `.${ident(column)}`], readAs))
  const collated = collation === undefined ? '' : `, collation: ${jsString(collation)}`
  return `{ of: ${of}, notNull: ${notNull}${collated}, ...${type}${attributesText(attributes)} }`
}

/** Expressions and conditions as Postgres prints them, so that it infers the index (PostgreSQL manual, INSERT). */
function arbiterSql({ parts, predicate }: ArbiterSql): string {
  const target = parts.map((part) => ('column' in part ? ident(part.column) : `(${part.expression})`)).join(', ')
  return `on conflict (${target})${predicate === null ? '' : ` where ${predicate}`}`
}

function computedText({
  schema,
  function: name,
  json,
  args,
  filter,
  attributes,
}: EntitySql['computed'][number]): string {
  const call = `${qualified(schema, name)}(`
  if (args !== undefined) {
    const of = `(row, args) => ${jsString(call)} + [row, ...args].join(', ') + ')'`
    return `{ of: ${of}, json: ${jsonText(json)}, ${table('args', args, (arg) => [arg.field, argumentText(arg)])}${attributesText(attributes)} }`
  }
  const operands = filter === undefined ? '' : `, ${operandsText(filter)}`
  return `{ of: ${jsFunction('row', [call, hole('row'), ')'])}, json: ${jsonText(json)}${operands}${attributesText(attributes)} }`
}

/**
 * Base64 of the jsonb text of [schema, relation, key values ...] (spec/graphql.md 7.1), which is made as json: that
 * takes half the time. `encode` breaks lines after 76 characters (PostgreSQL manual 9.5), which `replace` removes.
 * Qualified functions cannot be shadowed by the owner's.
 */
function nodeIdText({ schema, relation, columns, key }: EntitySql): string {
  const names = `${literal(schema)}, ${literal(relation)}`
  const head = `pg_catalog.replace(pg_catalog.encode(pg_catalog.json_send(pg_catalog.json_build_array(${names}`
  const tail = `)), 'base64'), E'\\n', '')`
  const alike = key.every((name) => columns.find(({ column }) => column === name)?.alike === true)
  const element = jsFunction('value', [', ', ...cursorPieces({ alike })])
  return `(key) => ${jsString(head)} + key.map(${element}).join('') + ${jsString(tail)}`
}

/** Root functions -> the JavaScript text of a record from function id to CallBuilder (runtime/contract/builder.ts). */
export const callsModule = (calls: readonly CallSql[]): string =>
  moduleText([
    '/** SQL builders of root functions. Compiled from the database: change that, not this file. */',
    moduleExports(calls.map((call) => `${jsString(call.id)}: ${block(callMembers(call))}`)),
  ])

const callMembers = (call: CallSql): readonly string[] => [
  `name: ${jsString(qualified(call.schema, call.function))}`,
  table('args', call.args, (argument) => [argument.field, argumentText(argument)]),
  `json: ${jsonText(call.json)}${attributesText(call.attributes)}`,
]

/** Named notation (PostgreSQL manual 4.3.2), so that arguments with defaults may be omitted. */
const argumentText = (argument: ArgumentSql): string =>
  jsFunction('parameter', [
    argument.positional === true ? '' : `${ident(argument.name)} => `,
    ...operandPieces(argument, hole('parameter')),
  ])

/** JavaScript text for reading and writing values of a type. */

const value = hole('value')

/** How a value prints in JSON (spec/graphql.md 3.1 to 3.3). */
const jsonText = (form: JsonForm): string => jsFunction('value', jsonPieces(form))

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
const valuesFunction = `/** Functions of a type's values; casts follow a text parameter, or one that holds an array. */
const values = (type, recordType, cast, listCast, json, cursor = (value) => value) => ({
  json,
  cursor,
  operand: (parameter) => parameter + cast,
  operands: (parameter) => parameter + listCast,
  recordType,
  fromRecord: (value) => '(' + value + ')::' + type,
})`

/** A call of the function above: `values('int4', 'text', '::int4', '::int4[]', (value) => value)`. */
function valuesText(column: ColumnSql): string {
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
const cursorPieces = ({ alike, order }: Pick<ColumnSql, 'alike' | 'order'>): Pieces =>
  // A type of an extension may have a cast to json (hstore), whose text differs from the type's own.
  order !== undefined ? ['(', value, ')::text'] : alike ? [value] : ['pg_catalog.to_jsonb(', value, ')']

/** The member with the comparison operators. */
const orderText = (order: OrderSql): string =>
  table('order', Object.entries(order), ([symbol, operator]) => [symbol, jsString(operator)])

/** The conversion of filter operands to values of the type: members of an object. */
const operandsText = (type: CastType): string =>
  `operand: ${jsFunction('parameter', operandPieces(type, hole('parameter')))}, ` +
  `operands: ${jsFunction('parameter', [hole('parameter'), listCast(type)])}${spatialText(type.geo)}` +
  (type.order === undefined ? '' : `, ${orderText(type.order)}`)

const operandPieces = (type: CastType, parameter: Hole): Pieces =>
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
function attributesText(attributes: readonly AttributeSql[] | undefined): string {
  if (attributes === undefined) return ''
  return `, ${table('attributes', attributes, (item) => [item.attribute, attributeText(item)])}`
}

function attributeText(item: AttributeSql): string {
  const of = jsFunction('value', readPieces(['(', value, `).${ident(item.attribute)}`], item.readAs))
  return `{ of: ${of}, json: ${jsonText(item.json)}, ${operandsText(item)}${attributesText(item.attributes)} }`
}

/** An expression's value as the type that operators need. */
const readPieces = (expression: Pieces, readAs: string | undefined): Pieces =>
  readAs === undefined ? expression : mergedPieces(['(', ...expression, `)::${readAs}`])

type CastType = Pick<ColumnSql, 'type' | 'array' | 'plainDelimiter' | 'geo' | 'order'>

/**
 * From a text parameter to the exact type. An array whose elements are not delimited by a comma goes through text[],
 * whose literals are: `::text[]::box[]`.
 */
const operandCast = ({ type, array, plainDelimiter }: CastType): string =>
  array && !plainDelimiter ? `::text[]::${type}` : `::${type}`

const listCast = ({ type, plainDelimiter }: CastType): string =>
  plainDelimiter ? `::${type}[]` : `::text[]::${type}[]`
