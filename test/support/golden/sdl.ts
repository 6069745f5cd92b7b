import { parse, printSchema, type DefinitionNode } from 'graphql'
import { buildView } from '../../../runtime/engine/schema/schema.ts'
import { model } from '../../compiler/emit/models.ts'

/** Definitions with their descriptions, in the order of the text. */
const definitionsOf = (sdl: string): readonly string[] =>
  parse(sdl).definitions.map(({ loc }: DefinitionNode) => sdl.slice(loc?.start, loc?.end))

/** Scalars, their filters and other types that every database has, in their text. */
const everywhere: ReadonlySet<string> = new Set(
  definitionsOf(printSchema(buildView(model([]).manifest, 'anon').complete())),
)

/** The text without definitions that are the same for every database: one golden shows them. */
export const withoutTypesOfAll = (sdl: string): string =>
  `${definitionsOf(sdl)
    .filter((definition) => !everywhere.has(definition))
    .join('\n\n')}\n`
