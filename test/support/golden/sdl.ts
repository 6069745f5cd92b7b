import { readFileSync } from 'node:fs'
import { buildSchema, parse, printSchema, type DefinitionNode, type GraphQLSchema } from 'graphql'
import { buildView } from '../../../runtime/engine/schema/schema.ts'
import { model } from '../../compiler/emit/models.ts'

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

const folder = new URL('../../../fixtures/', import.meta.url)

/** The schema for anon that a case expects, whole again. Throws where the case has none. */
export function expectedSchema(name: string): GraphQLSchema {
  const own = definitionsOf(readFileSync(new URL(`${name}/expected/schema.anon.graphql`, folder), 'utf8'))
  const names = new Set(own.map(nameOf))
  const missing = [...everywhere].filter((definition) => !names.has(nameOf(definition)))
  return buildSchema([...own, ...missing].join('\n\n'), { assumeValidSDL: true })
}
