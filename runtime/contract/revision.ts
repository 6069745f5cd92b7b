import type { Manifest, ObjectId } from './manifest.ts'

/** A builder as JavaScript text: a CommonJS body that assigns `module.exports`. */
export interface EntityModule {
  readonly id: ObjectId
  readonly text: string
}

/** Files of compiled documents, by their addresses. */
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
}

/**
 * Returns the newest revision; compiles it first if the database has changed. If that fails although the database
 * answers, it returns the last good one with the database's version and the `failure`. Rejects if there is none, or if
 * the database does not answer.
 * @param isOutdated true if a request found the last revision outdated: the database is then read without a check for
 * changes
 */
export type RevisionSource = (isOutdated?: boolean) => Promise<Revision>
