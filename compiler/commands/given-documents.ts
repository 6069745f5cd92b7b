import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { messageOf, sha256Hex } from '../../runtime/lib/text.ts'
import { isJsonObject, tryParseJson } from '../../runtime/lib/json.ts'
import { headerMember } from './codegen/folder.ts'
import { operationNames, type GivenDocument, findFiles, withFragments } from './advise/diff/document-changes.ts'
import { ArtifactFailure } from '../../runtime/engine/artifact-failure.ts'
import { compiledDocuments } from './compiled/documents.ts'
import { misuse, type CommandOption, type GivenOptions, textOption } from './command.ts'

export const documentOptions = {
  documents: { value: 'GLOB', help: 'Files of documents, such as "src/**/*.graphql", or of texts by their hashes.' },
  artifacts: { value: 'DIR', help: 'In place of --documents: those that `compile` wrote to this folder.' },
} as const satisfies Readonly<Record<string, CommandOption>>

/** Null: the command line names no documents. Rejects with CommandFailure. */
export async function namedDocuments(given: GivenOptions): Promise<readonly GivenDocument[] | null> {
  const [pattern, folder] = [textOption(given, 'documents'), textOption(given, 'artifacts')]
  if (folder === null) return pattern === null ? null : givenDocuments(pattern)
  if (pattern !== null) throw misuse('--artifacts takes the place of --documents')
  try {
    return compiledDocuments(folder)
  } catch (error) {
    throw error instanceof ArtifactFailure ? misuse(`--artifacts: ${error.message}`) : error
  }
}

/** The documents of the files in `--documents`, which share their fragments. Rejects with CommandFailure. */
export async function givenDocuments(pattern: string): Promise<readonly GivenDocument[]> {
  const paths = await findFiles(pattern).catch(() => [])
  if (paths.length === 0) throw misuse(`--documents ${pattern} names no file`)
  const documents: GivenDocument[] = []
  for (const source of paths) {
    const text = readGiven(source, '--documents')
    documents.push(...(source.endsWith('.json') ? hashedDocuments(source, text) : [{ source, text, roles: null }]))
  }
  return withFragments(documents)
}

/**
 * Texts by their hashes, in the format of `codegen --hashes` and other generators, for Automatic Persisted Queries and
 * Persisted Documents (GraphQL over HTTP, appendix A). @throws CommandFailure
 */
function hashedDocuments(source: string, text: string): readonly GivenDocument[] {
  return textsByHash(source, tryParseJson(text)).map(([hash, document]) => {
    const digits = hash.replace(/^sha256:/, '')
    const other = otherHashes[digits.length]
    if (other !== undefined) throw misuse(`--documents: "${hash}" in ${source} is as long as ${other}`)
    if (typeof document !== 'string' || sha256Hex(document) !== digits)
      throw misuse(`--documents: the text under "${hash}" in ${source} does not have this SHA-256`)
    const names = operationNames(document).map((name) => name ?? hash.slice(0, 12))
    return { source: `${source}#${names.join(',')}`, text: document, roles: null }
  })
}

/** By their digits, the hashes that generators make unless their configuration names SHA-256. */
const otherHashes: Readonly<Record<number, string>> = {
  32: 'an MD5, and documents are known by their SHA-256: of relay-compiler set persistConfig.algorithm to SHA256',
  40: 'a SHA-1, and documents are known by their SHA-256: of GraphQL Code Generator set persistedDocuments.hashAlgorithm to sha256',
}

const apolloFormat = 'apollo-persisted-query-manifest'

/** @throws CommandFailure for a format that is not known */
function textsByHash(source: string, found: unknown): readonly (readonly [hash: string, text: unknown])[] {
  if (!isJsonObject(found)) throw misuse(`--documents: ${source} holds no object of texts by their hashes`)
  if (!('format' in found)) return Object.entries(found).filter(([hash]) => hash !== headerMember)
  const { format, version, operations } = found
  if (format === apolloFormat && version === 1 && Array.isArray(operations) && operations.every(isJsonObject))
    return operations.map(({ id, body }) => [String(id), body])
  const given = `${JSON.stringify(format)}, version ${JSON.stringify(version)}`
  throw misuse(
    `--documents: ${source} has the format ${given}; this reads texts by their SHA-256, and ${apolloFormat} of version 1`,
  )
}

const misusedFile =
  (option: string, path: string, act: string) =>
  (error: unknown): never => {
    throw misuse(`${option}: ${path} cannot be ${act} (${(error as NodeJS.ErrnoException).code ?? messageOf(error)})`)
  }

/**
 * The text of a file in an option. Synchronous: for a thousand files, waiting for each costs several times as much as
 * reading. @throws CommandFailure
 */
export function readGiven(path: string, option: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    return misusedFile(option, path, 'read')(error)
  }
}

export const writeOut = (path: string, text: string, option = '--out'): Promise<void> =>
  writeFile(path, text).catch(misusedFile(option, path, 'written'))
