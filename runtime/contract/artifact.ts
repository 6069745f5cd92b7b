import { sha256Hex } from '../lib/text.ts'
import type { ObjectId } from './manifest.ts'

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
export interface Digests {
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
