import { ident, qualified } from '../../runtime/sql/ident.ts'
import { literal } from '../../runtime/sql/literal.ts'
import { sameJson } from '../../runtime/lib/memo/differences.ts'
import type { ArbiterSql, ColumnSql, EntitySql } from '../model/model.ts'
import { commentText, hole, jsFunction, jsString, moduleExports, moduleText, table } from './js-text.ts'
import { argumentText } from './calls.ts'
import {
  attributesText,
  cursorPieces,
  jsonText,
  operandsText,
  readPieces,
  valuesFunction,
  valuesText,
} from './value-text.ts'

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

/** A module whose value is the text of a type. */
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
