import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { printSchema, type GraphQLSchema } from 'graphql'
import { messageOf } from '../../../runtime/lib/message-of.ts'
import type { Files } from './client.ts'
import { scalarFacts } from './scalars.ts'

/** The part of @graphql-codegen/cli that is used. */
interface GraphqlCodegen {
  readonly generate: (
    config: object,
    write: false,
  ) => Promise<readonly { readonly filename: string; readonly content: string }[]>
}

const packageName = '@graphql-codegen/cli'

/** It is the project's own, as a peer: those who write no documents need none of its hundreds of packages. */
async function loadGraphqlCodegen(folder: string): Promise<GraphqlCodegen> {
  let path: string
  try {
    path = createRequire(join(folder, 'package.json')).resolve(packageName)
  } catch {
    throw new Error(`--documents needs ${packageName} in the project: npm install --save-dev ${packageName}`)
  }
  return (await import(pathToFileURL(path).href)) as GraphqlCodegen
}

export interface DocumentOptions {
  /** Files with documents: GraphQL's own, and sources with tagged templates or calls of `graphql`. */
  readonly pattern: string
  /** The project, which patterns are relative to. */
  readonly folder: string
}

/**
 * Typed documents of a project: each text that stands in its files as a TypedDocumentString, and the function `graphql`
 * that finds them by their texts. Values are typed as they are sent. Rejects with what is wrong with the documents.
 */
export async function documentFiles(schema: GraphQLSchema, { pattern, folder }: DocumentOptions): Promise<Files> {
  const { generate } = await loadGraphqlCodegen(folder)
  try {
    const made = await generate(configOf(schema, pattern, folder), false)
    return Object.fromEntries(made.map(({ filename, content }) => [filename, content]))
  } catch (error) {
    throw new Error(reasonsOf(error).join('\n'))
  }
}

const configOf = (schema: GraphQLSchema, pattern: string, cwd: string): object => ({
  cwd,
  schema: printSchema(schema),
  documents: pattern,
  silent: true,
  errorsOnly: true,
  emitLegacyCommonJSImports: false,
  generates: {
    'documents/': {
      preset: 'client',
      presetConfig: { fragmentMasking: false },
      config: { documentMode: 'string', useTypeImports: true, enumsAsTypes: true, strictScalars: true, scalars },
    },
  },
})

const scalars = Object.fromEntries(
  Object.entries(scalarFacts).map(([name, { output }]) => [
    name,
    output.replace('sdk.', "import('@catalograph/client/sdk')."),
  ]),
)

/** Several things may be wrong at once; the colours of a terminal are left out. */
function reasonsOf(error: unknown): readonly string[] {
  const all: readonly unknown[] = error instanceof AggregateError ? error.errors : [error]
  return all.map((one) =>
    messageOf(one)
      .replaceAll(/\u001b\[\d+m/g, '')
      .trim(),
  )
}
