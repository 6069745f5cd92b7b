import type { Manifest, ObjectId, ReportFacts } from './manifest.ts'
import { sha256Hex } from '../lib/text.ts'

/** A builder as JavaScript text: a CommonJS body that assigns `module.exports`. */
export interface EntityModule {
  readonly id: ObjectId
  readonly text: string
}

export interface DocumentAddresses {
  /** By role: the types that its variables have. */
  readonly types: Readonly<Record<string, string>>
  /** By role: documents by the hashes of their texts. */
  readonly roles: Readonly<Record<string, Readonly<Record<string, string>>>>
}

/** Documents as `compile --documents` wrote them. */
export interface CompiledDocuments {
  /** Of the revision: documents are read from it on demand. */
  readonly folder: string
  readonly addresses: DocumentAddresses
  /** Addresses of documents that name objects which the database lacks or has changed. */
  readonly outdated: readonly string[]
}

/** One compiled state of a database: what the runtime loads as an engine. */
export interface Revision {
  /** Content address: hex SHA-256 over manifest and modules, shortened to 16 characters. */
  readonly id: string
  /** Schema version of the database this was compiled from; null if it is not followed (artifacts only). */
  readonly version: string | null
  readonly manifest: Manifest
  /** The builder of each entity, in the order of the manifest. */
  readonly entities: readonly EntityModule[]
  /** JavaScript text of the builders of root functions: `module.exports` maps function id to a CallBuilder. */
  readonly functions: string
  /** If only compiled documents are served: their files, and which of them the database cannot answer. */
  readonly compiled?: CompiledDocuments
  /** Why a newer state of the database is not this revision; absent if this is the newest. */
  readonly failure?: string
  /** Reads the database. Null: its state must be compiled; absent: each state must. Rejects as the source does. */
  readonly later?: () => Promise<LaterState | null>
  /** The facts for a report on any role (spec/graphql.md 17); absent: there is no compiler. */
  readonly report?: () => Promise<ReportFacts>
}

/** A later state of the database, in which only columns and the like of some relations are others than in a revision. */
export interface LaterState {
  readonly version: string
  readonly changed: readonly ObjectId[]
}

/**
 * Returns the newest revision; compiles it first if the database has changed. If that fails although the database
 * answers, it returns the last good one with the database's version and the `failure`. Rejects if there is none, or if
 * the database does not answer.
 * @param isOutdated true if a request found the last revision outdated: the database is then read without a check for
 * changes
 */
export type RevisionSource = (isOutdated?: boolean) => Promise<Revision>

/**
 * Paths of a revision's files and the addresses of their content: used by the compiler to write, by the engine to read.
 */

/** Names the newest revision; written last. */
export const currentFile = 'current.json'
export const manifestFile = 'manifest.json'
export const functionsFile = 'functions.cjs'

/** Module of an entity's builders; its types are beside it under `.d.cts`. */
export const entityFile = (id: ObjectId): string => `entities/${fileStem(id)}.cjs`

/** File systems commonly allow 255 bytes; the rest is for the extension and the hash. */
const longestStem = 120

/**
 * A file name for an object, safe and unique for all names: `["public","posts"]` -> `public.posts`.
 *
 * Bytes outside letters, digits, `_` and `-` are percent-encoded in lower case. A name with upper case letters gets a
 * hash, because two names may differ by case only and some file systems treat them as equal; so does a truncated name.
 * The `~` before the hash is itself encoded in names, so no other name can look like it.
 */
function fileStem(id: ObjectId): string {
  const stem = (JSON.parse(id) as readonly string[]).map(encodePart).join('.')
  const plain = stem.length <= longestStem && stem === stem.toLowerCase()
  return plain ? stem : `${stem.slice(0, longestStem)}~${sha256Hex(id).slice(0, 12)}`
}

const encodePart = (name: string): string =>
  Array.from(Buffer.from(name, 'utf8'), (byte) => plainBytes[byte] ?? `%${byte.toString(16).padStart(2, '0')}`).join('')

const plainBytes: readonly (string | null)[] = Array.from({ length: 256 }, (_, byte) => {
  const character = String.fromCharCode(byte)
  return /[A-Za-z0-9_-]/.test(character) ? character : null
})

/**
 * Digest of a manifest's text by its lines: a caller that remembers the digests of unchanged lines need not read them.
 * The comma between two lines belongs to neither.
 */
export const digestLines = (text: string): string =>
  joinDigests(text.split('\n').map((line) => sha256Hex(line.endsWith(',') ? line.slice(0, -1) : line)))

/** The same from the SHA-256 of each line. */
export const joinDigests = (digests: readonly string[]): string => sha256Hex(digests.join('\n'))

/** Digests of each text of a revision, the manifest's by its lines. */
interface Digests {
  readonly manifest: string
  readonly functions: string
  /** Made by digestEntity. */
  readonly entities: readonly string[]
}

/** @param digest the SHA-256 of the entity's module */
export const digestEntity = (id: ObjectId, digest: string): string => `${id} ${digest}`

/**
 * The content address: 16 hex digits of SHA-256 over manifest and modules. It is made of hashes, so that a compiler
 * that remembers those of unchanged modules need not read them again.
 */
export function revisionId({ manifest, functions, entities }: Digests): string {
  return sha256Hex(['catalograph 1', manifest, functions, ...entities.toSorted()].join('\n')).slice(0, 16)
}
