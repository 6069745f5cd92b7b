import { buildASTSchema, type DocumentNode, type GraphQLSchema } from 'graphql'
import { clientFiles } from './client.ts'
import type { Readings } from './source.ts'

/** The used part of graphql-codegen's input to a preset. */
export interface PresetGiven {
  readonly baseOutputDir: string
  readonly schema: DocumentNode
  readonly schemaAst?: GraphQLSchema
  /** `inOrder` is the schema before graphql-codegen sorted it. */
  readonly presetConfig: { readonly scalars?: Readings; readonly inOrder?: GraphQLSchema }
}

/**
 * The typed client as a preset of graphql-codegen: an output for each file of the client, whose plug-in prints it. The
 * schema is built again, because graphql-codegen may use another copy of `graphql`.
 */
export const preset = {
  buildGeneratesSection: ({ baseOutputDir, schema, schemaAst, presetConfig: { scalars = {}, inOrder } }: PresetGiven) =>
    Object.entries(clientFiles(inOrder ?? buildASTSchema(schema, { assumeValidSDL: true }), scalars)).map(
      ([path, text]) => ({
        filename: `${baseOutputDir}${path}`,
        plugins: [{ client: {} }],
        pluginMap: { client: { plugin: (): string => text } },
        ...{ schema, documents: [], config: {}, ...(schemaAst !== undefined && { schemaAst }) },
      }),
    ),
}
