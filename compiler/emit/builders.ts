import { ident, qualified } from '../../runtime/sql/ident.ts'
import { literal } from '../../runtime/sql/literal.ts'
import type { ArbiterSql, ColumnSql, EntitySql } from '../model/types.ts'
import { commentText, hole, jsFunction, jsString, moduleExports, moduleText, type Pieces, record } from './js-text.ts'
import { argumentText } from './calls.ts'
import { attributesText, cursorPieces, jsonText, operandsText, valuesFunction, valuesText } from './value-text.ts'

/**
 * EntitySql -> the JavaScript text of an EntityBuilder (runtime/contract/builder.ts). The module imports nothing.
 *
 * Columns of one type share its functions, which keeps wide tables short to read, to parse and to hold.
 *
 * Written as text, without ts-morph: every serving process emits builders, and the syntax tree of 2,000 modules took
 * 2.4 s and 250 MB where the text takes 0.2 s. What a tree would prove is proven by `check`, which evaluates each
 * module.
 */
export function entityModule(entity: EntitySql): string {
  const relation = qualified(entity.schema, entity.relation)
  const types = nameTypes(entity.columns)
  return moduleText([
    `/** SQL builders of ${commentText(relation)}. Compiled from the database: change that, not this file. */`,
    valuesFunction,
    [...types.values()].map(({ name, column }) => `const ${name} = ${valuesText(column)}`).join('\n'),
    moduleExports(entityMembers(entity, types)),
  ])
}

interface NamedType {
  /** The constant that holds the functions of the type. */
  readonly name: string
  readonly column: ColumnSql
}

const typeKey = ({ type, array, plainDelimiter, geo, json, alike }: ColumnSql): string =>
  JSON.stringify([type, array, plainDelimiter, geo, json, alike])

/** One constant per distinct type, in order of appearance. */
function nameTypes(columns: readonly ColumnSql[]): ReadonlyMap<string, NamedType> {
  const types = new Map<string, NamedType>()
  const taken = new Set<string>()
  for (const column of columns) {
    if (types.has(typeKey(column))) continue
    const name = freeName(
      `as_${column.type
        .replaceAll('[]', '_array')
        .replace(/[^A-Za-z0-9]+/g, '_')
        .replace(/^_|_$/g, '')}`,
      taken,
    )
    taken.add(name)
    types.set(typeKey(column), { name, column })
  }
  return types
}

function freeName(wanted: string, taken: ReadonlySet<string>): string {
  for (let count = 1; ; count++) {
    const name = count === 1 ? wanted : `${wanted}_${count}`
    if (!taken.has(name)) return name
  }
}

function entityMembers(entity: EntitySql, types: ReadonlyMap<string, NamedType>): readonly string[] {
  const { schema, relation, columns, computed, arbiters } = entity
  return [
    `relation: ${jsString(qualified(schema, relation))}`,
    record('columns', columns, (column) => [column.column, columnText(column, types.get(typeKey(column))?.name ?? '')]),
    `nodeId: ${nodeIdText(entity)}`,
    record('computed', computed, (field) => [field.id, computedText(field)]),
    ...(arbiters === undefined ? [] : [record('arbiters', arbiters, (key) => [key.name, jsString(arbiterSql(key))])]),
  ]
}

const columnText = ({ column, notNull, readAs, attributes }: ColumnSql, type: string): string =>
  `{ of: ${jsFunction('row', readPieces(column, readAs))}, notNull: ${notNull}, ...${type}${attributesText(attributes)} }`

/** Expressions and conditions are as Postgres prints them, so that it finds the index again (PostgreSQL manual, INSERT). */
function arbiterSql({ parts, predicate }: ArbiterSql): string {
  const target = parts.map((part) => ('column' in part ? ident(part.column) : `(${part.expression})`)).join(', ')
  return `on conflict (${target})${predicate === null ? '' : ` where ${predicate}`}`
}

const readPieces = (column: string, readAs: string | undefined): Pieces =>
  readAs === undefined ? [hole('row'), `.${ident(column)}`] : ['(', hole('row'), `.${ident(column)})::${readAs}`]

function computedText({ schema, function: name, json, args, filter, attributes }: EntitySql['computed'][number]): string {
  const call = `${qualified(schema, name)}(`
  if (args !== undefined) {
    const of = `(row, args) => ${jsString(call)} + [row, ...args].join(', ') + ')'`
    return `{ of: ${of}, json: ${jsonText(json)}, ${record('args', args, (arg) => [arg.field, argumentText(arg)])}${attributesText(attributes)} }`
  }
  const operands = filter === undefined ? '' : `, ${operandsText(filter)}`
  return `{ of: ${jsFunction('row', [call, hole('row'), ')'])}, json: ${jsonText(json)}${operands}${attributesText(attributes)} }`
}

/**
 * Base64 of the jsonb text of [schema, relation, key values ...] (spec/graphql.md 7.1), which is made as json: that takes
 * half the time. `encode` breaks lines after 76 characters (PostgreSQL manual 9.5), which `replace` takes out. The schema's
 * name keeps functions of the owner from standing in between.
 */
function nodeIdText({ schema, relation, columns, key }: EntitySql): string {
  const names = `${literal(schema)}, ${literal(relation)}`
  const head = `pg_catalog.replace(pg_catalog.encode(pg_catalog.json_send(pg_catalog.json_build_array(${names}`
  const tail = `)), 'base64'), E'\\n', '')`
  const alike = key.every((name) => columns.find(({ column }) => column === name)?.alike === true)
  const element = jsFunction('value', [', ', ...cursorPieces({ alike })])
  return `(key) => ${jsString(head)} + key.map(${element}).join('') + ${jsString(tail)}`
}
