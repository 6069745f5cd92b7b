import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { stripVTControlCharacters } from 'node:util'
import { printSchema, type GraphQLSchema } from 'graphql'
import { messageOf, sha256Hex } from '../../../runtime/lib/text.ts'
import { jsString } from '../../emit/js-text.ts'
import { clientFiles, type Files } from './client.ts'
import { preset } from './preset.ts'
import { scalarFacts, type Readings } from './source.ts'

/** The used part of @graphql-codegen/cli. */
type Generate = (config: object, write: false) => Promise<readonly { filename: string; content: string }[]>

const packageName = '@graphql-codegen/cli'

/** That of the project; null if it has none. */
async function loadGenerate(folder: string): Promise<Generate | null> {
  let path: string
  try {
    path = createRequire(join(folder, 'package.json')).resolve(packageName)
  } catch {
    return null
  }
  return ((await import(pathToFileURL(path).href)) as { readonly generate: Generate }).generate
}

export interface GenerateOptions {
  readonly readings: Readings
  /** Files with documents: GraphQL's own, and sources with tagged templates or calls of `graphql`; null for none. */
  readonly pattern: string | null
  /** The project, to which patterns are relative. */
  readonly folder: string
  /** Whether each document gets the SHA-256 of its text, and a file maps these to the texts. */
  readonly hashes: boolean
}

/**
 * Runs a configuration of graphql-codegen: the typed client, and the typed documents of a project, each text in its
 * files as a TypedDocumentString, and the function `graphql` that finds them by their texts. Values have the types in
 * which they are sent. A project without graphql-codegen gets the same client from the preset alone. Rejects with the
 * errors of the documents.
 */
export async function generateFiles(schema: GraphQLSchema, options: GenerateOptions): Promise<Files> {
  const generate = await loadGenerate(options.folder)
  if (generate === null && options.pattern === null) return clientFiles(schema, options.readings)
  if (generate === null)
    throw new Error(`--documents needs ${packageName} in the project: npm install --save-dev ${packageName}`)
  try {
    const made = await generate(codegenConfig(schema, options), false)
    const files = Object.fromEntries(made.map(({ filename, content }) => [filename, content]))
    return options.hashes ? withTexts(files) : files
  } catch (error) {
    throw new Error(reasonsOf(error).join('\n'))
  }
}

const codegenConfig = (schema: GraphQLSchema, { readings, pattern, folder, hashes }: GenerateOptions): object => ({
  cwd: folder,
  schema: printSchema(schema),
  silent: true,
  errorsOnly: true,
  emitLegacyCommonJSImports: false,
  generates: {
    '': { preset, presetConfig: { scalars: readings, inOrder: schema } },
    ...(pattern !== null && { 'documents/': documentsOf(pattern, hashes) }),
  },
})

const documentsOf = (documents: string, hashes: boolean): object => ({
  documents,
  preset: 'client',
  presetConfig: {
    fragmentMasking: false,
    ...(hashes && { persistedDocuments: { mode: 'replaceDocumentWithHash', hashAlgorithm: sha256Hex } }),
  },
  config: { documentMode: 'string', useTypeImports: true, enumsAsTypes: true, strictScalars: true, scalars },
})

/** The map from hashes to texts. */
const hashedFile = 'documents/persisted-documents.json'

/**
 * A hash is that of the text in `hashedFile`, but the preset's document contains a hash alone or another print of it:
 * each document gets the text of its hash.
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

/** There may be several errors; the colours of a terminal are removed. */
function reasonsOf(error: unknown): readonly string[] {
  const all: readonly unknown[] = error instanceof AggregateError ? error.errors : [error]
  return all.map((one) => stripVTControlCharacters(messageOf(one)).trim())
}
