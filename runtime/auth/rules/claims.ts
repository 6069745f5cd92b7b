import type { AmrEntry, AssuranceLevel, UserRow } from '../protocol/types.ts'
import type { AuthSettings } from '../settings/keys.ts'
import type { JsonObject } from '../../lib/json.ts'

/** What the claims of an access token are made of. */
export interface ClaimFacts {
  readonly user: UserRow
  /** Null: the token belongs to none, as those that the owner takes for himself. */
  readonly session: {
    readonly id: string
    readonly aal: AssuranceLevel | null
    readonly amr: readonly AmrEntry[]
    /** Mark of the refresh token that comes with it, see refresh-mark.ts. */
    readonly refreshMark: string
  } | null
  /** Unix seconds, rounded down: never in the future (spec/auth.md, attack 37). */
  readonly now: number
}

export type ClaimSettings = Pick<AuthSettings, 'external_url' | 'jwt_exp' | 'jwt_aud' | 'jwt_default_role'>

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

/** aal2 exactly when one of the methods was TOTP. */
function assuranceOf(amr: readonly AmrEntry[]): 'aal1' | 'aal2' {
  return amr.some(({ method }) => method === 'totp') ? 'aal2' : 'aal1'
}
