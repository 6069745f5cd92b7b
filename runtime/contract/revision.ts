import type { Manifest, ObjectId } from './manifest.ts'

/** A builder as JavaScript text: a CommonJS body that assigns `module.exports`. */
export interface EntityModule {
  readonly id: ObjectId
  readonly text: string
}

/** Files of compiled documents, by the addresses that they are named by. */
export interface DocumentAddresses {
  /** By role: the types that its variables have. */
  readonly types: Readonly<Record<string, string>>
  /** By role: documents by the hashes of their texts. */
  readonly roles: Readonly<Record<string, Readonly<Record<string, string>>>>
}

/** Documents as `compile --documents` wrote them. */
export interface CompiledDocuments {
  /** Of the revision: documents are read from it when they are asked. */
  readonly folder: string
  readonly addresses: DocumentAddresses
  /** Addresses of documents that name what the database does not have, or has as something else. */
  readonly outdated: readonly string[]
}

/** One compiled state of a database: what the runtime loads as an engine. */
export interface Revision {
  /** Content address: hex SHA-256 over manifest and modules, shortened to 16 characters. */
  readonly id: string
  /** Schema version of the database this was compiled from; null when it is not followed (artifacts alone). */
  readonly version: string | null
  readonly manifest: Manifest
  /** The builder of each entity, in the order of the manifest. */
  readonly entities: readonly EntityModule[]
  /** JavaScript text of the builders of root functions: `module.exports` maps function id to a CallBuilder. */
  readonly functions: string
  /** Where only compiled documents are answered: what they run, and which of them this state of the database cannot answer. */
  readonly compiled?: CompiledDocuments
  /** Why a newer state of the database is not this revision; absent when this is the newest. */
  readonly failure?: string
}

/**
 * Hands over the newest revision; makes it first when the database has moved on. When that fails although the database
 * answers, it hands over the last good one with the database's version and the `failure`. Rejects when there is none,
 * or when the database does not answer.
 * @param isOutdated true where a request has found that the last revision is outdated: the database is then read at once,
 * without asking first whether it has moved on
 */
export type RevisionSource = (isOutdated?: boolean) => Promise<Revision>
