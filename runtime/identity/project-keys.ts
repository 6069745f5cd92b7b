import { derivedKeyId, signToken } from './jwt.ts'

/** The role of the key that must not be in a browser: its holder is the project's owner. */
export const ownerRole = 'service_role'

/** Roles of project keys: for browsers, and for servers only. */
export const keyRoles = ['anon', ownerRole] as const

export type KeyRole = (typeof keyRoles)[number]

/** The two keys that every secret has. */
export interface ProjectKeys {
  readonly anon: string
  readonly serviceRole: string
}

/**
 * Makes the first keys of a secret: tokens with a role and no person. They have no time of issue and no expiry, so one
 * secret gives the same keys each time.
 */
export function projectKeys(secret: string): ProjectKeys {
  return { anon: signKey({ role: 'anon' }, secret), serviceRole: signKey({ role: ownerRole }, secret) }
}

export interface ListedKey {
  readonly id: string
  readonly role: string
  /** ISO 8601; null: it was not added, but derives from the secret or was signed elsewhere. */
  readonly addedAt: string | null
  /** ISO 8601; null: valid. */
  readonly revokedAt: string | null
}

export interface ProjectKey extends ListedKey {
  readonly token: string
}

/** The keys of a secret: its first ones, and the added ones, which are signed again on demand. */
export function keysOf(secret: string, listed: readonly ListedKey[]): readonly ProjectKey[] {
  const { anon, serviceRole } = projectKeys(secret)
  const first = [{ role: 'anon', token: anon } as const, { role: ownerRole, token: serviceRole } as const].map(
    ({ role, token }) => {
      const id = derivedKeyId(token, secret)
      const revokedAt = listed.find((key) => key.id === id)?.revokedAt ?? null
      return { id, role, addedAt: null, revokedAt, token }
    },
  )
  const added = listed.filter(({ addedAt }) => addedAt !== null)
  return [...first, ...added.map((key) => ({ ...key, token: addedKey(key.role, key.id, secret) }))]
}

export const goodKey = (keys: readonly ProjectKey[], role: KeyRole): string | undefined =>
  keys.find((key) => key.role === role && key.revokedAt === null)?.token

export const addedKey = (role: string, id: string, secret: string): string => signKey({ role, jti: id }, secret)

function signKey(claims: Readonly<Record<string, string>>, secret: string): string {
  return signToken({ iss: 'catalograph', ...claims }, secret)
}
