import { readFileSync } from 'node:fs'
import {
  buildSchema,
  Kind,
  parse,
  print,
  printSchema,
  type DefinitionNode,
  type FieldDefinitionNode,
  type GraphQLSchema,
  visit,
} from 'graphql'
import { buildView } from '../../../compiler/additions/engine.ts'
import { model } from '../../compiler/emit/models.ts'
import { filled, width } from './compact.ts'

/** Definitions with their descriptions, in the order of the text. */
const definitionsOf = (sdl: string): readonly string[] =>
  parse(sdl).definitions.map(({ loc }: DefinitionNode) => sdl.slice(loc?.start, loc?.end))

/** Null: of the schema itself. */
const nameOf = (definition: string): string | null => {
  const [node] = parse(definition).definitions
  return node !== undefined && 'name' in node ? (node.name?.value ?? null) : null
}

/** Scalars, their filters and other types that every database has, in their text. */
const everywhere: ReadonlySet<string> = new Set(
  definitionsOf(printSchema(buildView(model([]).manifest, 'anon').complete())).filter(
    (definition) => nameOf(definition) !== null,
  ),
)

/** The text without definitions that are the same for every database: one golden shows them. */
export const withoutTypesOfAll = (sdl: string): string =>
  `${definitionsOf(sdl)
    .filter((definition) => !everywhere.has(definition))
    .join('\n\n')}\n`

/**
 * The text without descriptions and without the usual types around rows, on as few lines as its types fit on: a field with many
 * arguments has a line of its own.
 */
export function briefSdl(sdl: string): string {
  const bare = visit(parse(sdl), { StringValue: (_node, key) => (key === 'description' ? null : undefined) })
  const definitions = bare.definitions.map(briefDefinition)
  return definitions
    .filter((text) => text !== usualType(nameOf(text) ?? ''))
    .map((text) => `${text}\n`)
    .join('')
}

/** By the last part of its name what follows from the first one, which is that of rows. */
const usualTypes: Readonly<Record<string, (row: string) => string>> = {
  Edge: (row) => `{ cursor: String!, node: ${row}! }`,
  Connection: (row) => `{ edges: [${row}Edge!]!, pageInfo: PageInfo! }`,
  InsertResponse: (row) => `{ affectedCount: Int!, records: [${row}!]! }`,
  UpdateResponse: (row) => `{ affectedCount: Int!, records: [${row}!]! }`,
  DeleteResponse: (row) => `{ affectedCount: Int!, records: [${row}!]! }`,
}
const usualName = /^(\w+?)(Edge|Connection|(?:Insert|Update|Delete)Response)$/

/** Null: there is none of that name. */
function usualType(name: string): string | null {
  const [, row = '', part = ''] = usualName.exec(name) ?? []
  const body = usualTypes[part]?.(row)
  return body === undefined ? null : `type ${name} ${body}`
}

/** Those that a schema names and does not define. */
function usualTypesOf(definitions: readonly string[]): readonly string[] {
  const defined = new Set(definitions.map(nameOf))
  const named = new Set(definitions.flatMap((text) => text.match(/\w+/g) ?? []))
  const edges = [...named].map((name) => name.replace(/Connection$/, 'Edge'))
  return [...new Set([...named, ...edges])]
    .filter((name) => !defined.has(name))
    .map(usualType)
    .filter((text) => text !== null)
}

function briefDefinition(definition: DefinitionNode): string {
  const { kind } = definition
  if (kind === Kind.SCHEMA_DEFINITION)
    return `schema { ${definition.operationTypes.map(({ operation, type }) => `${operation}: ${print(type)}`).join(', ')} }`
  if (kind === Kind.ENUM_TYPE_DEFINITION)
    return briefType(print({ ...definition, values: [] }), (definition.values ?? []).map(print))
  if (kind === Kind.INPUT_OBJECT_TYPE_DEFINITION)
    return briefType(print({ ...definition, fields: [] }), (definition.fields ?? []).map(print))
  if (kind === Kind.OBJECT_TYPE_DEFINITION || kind === Kind.INTERFACE_TYPE_DEFINITION)
    return briefType(print({ ...definition, fields: [] }), (definition.fields ?? []).map(briefField))
  return print(definition)
}

/** @param members texts of its fields or values */
function briefType(head: string, members: readonly string[]): string {
  const line = `${head} { ${members.join(', ')} }`
  return line.length <= width ? line : `${head} {\n${filled(members, '  ', (member) => member.length > 60)}\n}`
}

function briefField({ name, arguments: args = [], type, directives = [] }: FieldDefinitionNode): string {
  const given = args.length === 0 ? '' : `(${args.map(print).join(', ')})`
  return [`${name.value}${given}: ${print(type)}`, ...directives.map(print)].join(' ')
}

const folder = new URL('../../../fixtures/', import.meta.url)

/** The schema for anon that a case expects, whole again. Throws where the case has none. */
export function expectedSchema(name: string): GraphQLSchema {
  const own = definitionsOf(readFileSync(new URL(`${name}/expected/schema.anon.graphql`, folder), 'utf8'))
  const names = new Set(own.map(nameOf))
  const missing = [...everywhere].filter((definition) => !names.has(nameOf(definition)))
  return buildSchema([...own, ...usualTypesOf(own), ...missing].join('\n\n'), { assumeValidSDL: true })
}
