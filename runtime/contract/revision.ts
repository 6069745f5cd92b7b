import type { Manifest, ObjectId } from './manifest.ts'

/** One compiled state of a database: what the runtime loads as an engine. */
export interface Revision {
  /** Content address: hex SHA-256 over manifest and modules, shortened to 16 characters. */
  readonly id: string
  /** Schema version of the database this was compiled from; null when it is not followed (artifacts alone). */
  readonly version: string | null
  readonly manifest: Manifest
  /** JavaScript text (a CommonJS body assigning `module.exports`) of each entity's builder. */
  readonly entities: Readonly<Record<ObjectId, string>>
  /** JavaScript text of the builders of root functions: `module.exports` maps function id to a CallBuilder. */
  readonly functions: string
}

/** Hands over the newest revision; makes it first when the database has moved on. Rejects when it cannot be made. */
export type RevisionSource = () => Promise<Revision>
