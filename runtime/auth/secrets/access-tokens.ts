import { createHash } from 'node:crypto'
import { longestToken, signToken, signWithKey } from '../../identity/jwt.ts'
import { createKeySet, type KeySet } from '../../identity/key-set.ts'
import { refuse } from '../protocol/errors.ts'
import type { AuthSettings } from '../settings/setting-keys.ts'
import type { PrivateJwk } from '../settings/parsers.ts'
import type { AmrEntry, AssuranceLevel, SignedSession, UserRow } from '../protocol/records.ts'
import type { JsonObject } from '../../lib/json.ts'

export interface AccessToken {
  readonly token: string
  /** Unix seconds. */
  readonly expiresAt: number
}

export interface AccessTokens {
  /**
   * Signs the database's facts about user and session: with the set's signing key if there is one. Without a session
   * the token can be neither refreshed nor signed out. Users whose `user_metadata` is larger than a token can carry get
   * one without it, so that they can sign in and shorten it; GET /user shows it all the same. `app_metadata` is never
   * left out, because policies may refuse by it: then 422 `metadata_too_large` is thrown.
   */
  readonly issue: (settings: AuthSettings, user: UserRow, held: HeldSession | null) => Promise<AccessToken>
}

export interface HeldSession {
  readonly session: SignedSession
  readonly refreshToken: string
}

const keySets = new WeakMap<readonly PrivateJwk[], KeySet>()

/** The keys of the settings, created once while they are unchanged. */
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

const ownersMetadata = 'The app_metadata of this user is too large for a token: the project must shorten it'

/** The columns of auth.users that claims are made of. */
export type ClaimUser = Pick<
  UserRow,
  'id' | 'aud' | 'role' | 'email' | 'phone' | 'raw_app_meta_data' | 'raw_user_meta_data' | 'is_anonymous'
>

interface ClaimFacts {
  readonly user: ClaimUser
  /** Null: the token belongs to no session, as with those that the owner signs. */
  readonly session: {
    readonly id: string
    readonly aal: AssuranceLevel | null
    readonly amr: readonly AmrEntry[]
    readonly refreshMark: string
  } | null
  /** Unix seconds, rounded down: never in the future (spec/auth.md, attack 37). */
  readonly now: number
}

type ClaimSettings = Pick<AuthSettings, 'external_url' | 'jwt_exp' | 'jwt_aud' | 'jwt_default_role'>

/** The claims of an access token (spec/auth.md 3.5). */
export function accessClaims({ user, session, now }: ClaimFacts, settings: ClaimSettings): JsonObject {
  const amr = session?.amr ?? []
  return {
    iss: settings.external_url,
    sub: user.id,
    aud: user.aud || settings.jwt_aud,
    iat: now,
    exp: now + settings.jwt_exp,
    role: user.role || settings.jwt_default_role,
    email: user.email ?? '',
    phone: user.phone ?? '',
    app_metadata: user.raw_app_meta_data ?? {},
    user_metadata: user.raw_user_meta_data ?? {},
    ...(session !== null && { session_id: session.id, refresh_mark: session.refreshMark }),
    aal: assuranceOf(amr),
    amr,
    is_anonymous: user.is_anonymous,
  }
}

/** aal2 exactly if one of the methods was TOTP. */
function assuranceOf(amr: readonly AmrEntry[]): 'aal1' | 'aal2' {
  return amr.some(({ method }) => method === 'totp') ? 'aal2' : 'aal1'
}

/**
 * The mark of a refresh token in its access token (spec/auth.md 3.5). It distinguishes two tokens of one session, and
 * is too short to find a token by it.
 */
const markOf = (refreshToken: string): string =>
  createHash('sha256').update(refreshToken, 'utf8').digest('hex').slice(0, 8)
