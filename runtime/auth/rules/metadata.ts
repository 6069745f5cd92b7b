import type { JsonObject } from '../../lib/json.ts'

/** The variable part of a user's tokens: `app_metadata` and `user_metadata`. */
export interface Metadata {
  readonly app: JsonObject | null
  readonly user: JsonObject | null
}

/**
 * The maximum of both together, in bytes of their JSON. Longer by a third in base64url, they leave room in a token
 * (identity/jwt.ts) for every other claim, and for our own additions to accepted metadata.
 */
export const largestMetadata = 32_768

function metadataBytes({ app, user }: Metadata): number {
  return Buffer.byteLength(JSON.stringify(app ?? {})) + Buffer.byteLength(JSON.stringify(user ?? {}))
}

/** Metadata with the keys of a change: those with null are removed (spec/auth.md 5.2). As the store merges it. */
export function merged(before: JsonObject | null, change: JsonObject): JsonObject {
  // Imported rows may contain another JSON value, which counts as empty (spec/auth.md 13).
  const known = Array.isArray(before) || typeof before !== 'object' ? {} : before
  const entries = Object.entries({ ...known, ...change })
  return Object.fromEntries(entries.filter(([key]) => !Object.hasOwn(change, key) || change[key] !== null))
}

/** Whether a change makes metadata too large; metadata that was too large before may always shrink. */
export function outgrows(after: Metadata, before: Metadata | null): boolean {
  const size = metadataBytes(after)
  return size > largestMetadata && (before === null || size > metadataBytes(before))
}
