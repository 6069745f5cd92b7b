import { signToken } from './jwt.ts'

/** The role of the key that no browser may hold: its holder is the project's owner. */
export const ownerRole = 'service_role'

/** The two keys of a project: what a browser may hold, and what only a server may. */
export interface ProjectKeys {
  readonly anon: string
  readonly serviceRole: string
}

/**
 * Makes the keys of a secret: tokens with a role and no person. They carry no time of issue and no expiry, so one
 * secret gives the same keys each time; to withdraw them, change the secret.
 */
export function projectKeys(secret: string): ProjectKeys {
  return { anon: signKey('anon', secret), serviceRole: signKey(ownerRole, secret) }
}

function signKey(role: string, secret: string): string {
  return signToken({ iss: 'catalograph', role }, secret)
}
