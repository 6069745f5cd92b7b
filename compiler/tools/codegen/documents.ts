import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { printSchema, type GraphQLSchema } from 'graphql'
import { messageOf } from '../../../runtime/lib/message-of.ts'
import { sha256Hex } from '../../../runtime/lib/sha256.ts'
import { jsString } from '../../emit/js-text.ts'
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
  /** Whether each document gets the SHA-256 of its text, and a file leads from these to the texts. */
  readonly hashes: boolean
}

/**
 * Typed documents of a project: each text that stands in its files as a TypedDocumentString, and the function `graphql`
 * that finds them by their texts. Values are typed as they are sent. Rejects with what is wrong with the documents.
 */
export async function documentFiles(schema: GraphQLSchema, options: DocumentOptions): Promise<Files> {
  const { generate } = await loadGraphqlCodegen(options.folder)
  try {
    const made = await generate(configOf(schema, options), false)
    const files = Object.fromEntries(made.map(({ filename, content }) => [filename, content]))
    return options.hashes ? withTexts(files) : files
  } catch (error) {
    throw new Error(reasonsOf(error).join('\n'))
  }
}

const configOf = (schema: GraphQLSchema, { pattern, folder, hashes }: DocumentOptions): object => ({
  cwd: folder,
  schema: printSchema(schema),
  documents: pattern,
  silent: true,
  errorsOnly: true,
  emitLegacyCommonJSImports: false,
  generates: {
    'documents/': {
      preset: 'client',
      presetConfig: {
        fragmentMasking: false,
        ...(hashes && { persistedDocuments: { mode: 'replaceDocumentWithHash', hashAlgorithm: sha256Hex } }),
      },
      config: { documentMode: 'string', useTypeImports: true, enumsAsTypes: true, strictScalars: true, scalars },
    },
  },
})

/** Where texts are found by their hashes. */
const hashedFile = 'documents/persisted-documents.json'

/**
 * A hash is that of the text under it in `hashedFile`, and what the preset makes of a document holds a hash alone or another
 * print of it: each document gets the text that its hash is of.
 */
function withTexts(files: Files): Files {
  const texts = JSON.parse(files[hashedFile] ?? '{}') as Readonly<Record<string, string>>
  const withText = (found: string, hash: string): string => {
    const text = texts[hash]
    return text === undefined ? found : `new TypedDocumentString(${jsString(text)}, ${JSON.stringify({ hash })})`
  }
  const made = Object.entries(files).map(([path, content]) => [
    path,
    content.replace(/\{"__meta__":\{"hash":"([0-9a-f]{64})"\}\}/g, withText),
  ])
  const sorted = Object.entries(texts).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return { ...Object.fromEntries(made), [hashedFile]: `${JSON.stringify(Object.fromEntries(sorted), null, 2)}\n` }
}

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
