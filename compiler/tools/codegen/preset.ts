import { buildASTSchema, type DocumentNode, type GraphQLSchema } from 'graphql'
import { clientFiles } from './client.ts'
import type { Readings } from './scalars.ts'

/** What graphql-codegen hands to a preset, as far as it is used. */
export interface PresetGiven {
  readonly baseOutputDir: string
  readonly schema: DocumentNode
  readonly schemaAst?: GraphQLSchema
  readonly presetConfig: { readonly scalars?: Readings }
}

/**
 * The typed client as a preset of graphql-codegen: an output for each file of the client, whose plug-in prints it.
 * The schema is built again, since graphql-codegen may bring another copy of `graphql`.
 */
export const preset = {
  buildGeneratesSection: ({ baseOutputDir, schema, schemaAst, presetConfig }: PresetGiven) =>
    Object.entries(clientFiles(buildASTSchema(schema, { assumeValidSDL: true }), presetConfig.scalars ?? {})).map(
      ([path, text]) => ({
        filename: `${baseOutputDir}${path}`,
        plugins: [{ client: {} }],
        pluginMap: { client: { plugin: (): string => text } },
        schema,
        ...(schemaAst !== undefined && { schemaAst }),
        ...{ documents: [], config: {} },
      }),
    ),
}
