import { longestToken, signToken, signWithKey } from '../../identity/jwt.ts'
import { createKeySet, type KeySet } from '../../identity/key-set.ts'
import { refuse } from '../protocol/errors.ts'
import { accessClaims } from '../rules/claims.ts'
import { markOf } from '../rules/refresh-mark.ts'
import type { AuthSettings } from '../settings/keys.ts'
import type { PrivateJwk } from '../settings/parsers.ts'
import type { SignedSession, UserRow } from '../protocol/types.ts'
import type { JsonObject } from '../../lib/json.ts'

export interface AccessToken {
  readonly token: string
  /** Unix seconds. */
  readonly expiresAt: number
}

export interface AccessTokens {
  /**
   * Signs what the database says of user and session: with the set's signing key where there is one. Without a session
   * the token can be neither refreshed nor signed out. Users whose `user_metadata` is larger than a token can carry get
   * one without any, so that they can sign in and shorten it; GET /user shows it all the same. `app_metadata` is never
   * left out, since policies may refuse by it: then 422 `metadata_too_large` is thrown.
   */
  readonly issue: (settings: AuthSettings, user: UserRow, held: HeldSession | null) => Promise<AccessToken>
}

/** A session, and the refresh token that its client gets along. */
export interface HeldSession {
  readonly session: SignedSession
  readonly refreshToken: string
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
    issue: async (settings, user, held) => {
      const session = held === null ? null : { ...held.session, refreshMark: markOf(held.refreshToken) }
      const claims = accessClaims({ user, session, now: Math.floor(now() / 1000) }, settings)
      const { signing } = keySetOf(settings.jwt_keys)
      const sign = async (wanted: JsonObject): Promise<string> =>
        signing === null ? signToken(wanted, secret) : signWithKey(wanted, signing)
      const whole = await sign(claims)
      const token = whole.length <= longestToken ? whole : await sign({ ...claims, user_metadata: {} })
      if (token.length > longestToken) throw refuse('metadata_too_large', ownersMetadata)
      return { token, expiresAt: Number(claims['exp']) }
    },
  }
}

const ownersMetadata = 'The app_metadata of this user is too large for a token: the project has to shorten it'
