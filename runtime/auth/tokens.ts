import { signToken, signWithKey } from '../identity/jwt.ts'
import { createKeySet, type KeySet } from '../identity/key-set.ts'
import { accessClaims } from './rules/claims.ts'
import type { AuthSettings } from './settings/keys.ts'
import type { PrivateJwk } from './settings/parsers.ts'
import type { SignedSession, UserRow } from './types.ts'

export interface AccessToken {
  readonly token: string
  /** Unix seconds. */
  readonly expiresAt: number
}

export interface AccessTokens {
  /**
   * Signs what the database says of user and session now: with the set's signing key where there is one. Without a
   * session the token can be neither refreshed nor signed out.
   */
  readonly issue: (settings: AuthSettings, user: UserRow, session: SignedSession | null) => Promise<AccessToken>
}

const keySets = new WeakMap<readonly PrivateJwk[], KeySet>()

/** The keys of the settings, made once while they stay the same. */
export function keySetOf(jwks: readonly PrivateJwk[]): KeySet {
  const made = keySets.get(jwks) ?? createKeySet(jwks)
  keySets.set(jwks, made)
  return made
}

export function createAccessTokens(secret: string, now: () => number): AccessTokens {
  return {
    issue: async (settings, user, session) => {
      const claims = accessClaims({ user, session, now: Math.floor(now() / 1000) }, settings)
      const { signing } = keySetOf(settings.jwt_keys)
      const token = signing === null ? signToken(claims, secret) : signWithKey(claims, signing)
      return { token: await token, expiresAt: Number(claims['exp']) }
    },
  }
}
