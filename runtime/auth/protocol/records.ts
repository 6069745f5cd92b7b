import type { JsonObject } from '../../lib/json.ts'

/** The data of auth: rows of the store, and the objects for clients. Types only. */

/** A time as Postgres prints it in UTC, with microseconds; see rfc3339. */
export type DatabaseTime = string

/** A user with the parts of every answer about one. Any text may be null in imported rows. */
export interface UserRow {
  readonly id: string
  readonly aud: string | null
  readonly role: string | null
  readonly email: string | null
  readonly phone: string | null
  readonly encrypted_password: string | null
  readonly email_confirmed_at: DatabaseTime | null
  readonly phone_confirmed_at: DatabaseTime | null
  readonly confirmed_at: DatabaseTime | null
  readonly invited_at: DatabaseTime | null
  readonly confirmation_sent_at: DatabaseTime | null
  readonly recovery_sent_at: DatabaseTime | null
  readonly email_change: string | null
  readonly email_change_sent_at: DatabaseTime | null
  readonly email_change_confirm_status: number | null
  readonly phone_change: string | null
  readonly phone_change_sent_at: DatabaseTime | null
  readonly reauthentication_sent_at: DatabaseTime | null
  readonly last_sign_in_at: DatabaseTime | null
  readonly raw_app_meta_data: JsonObject | null
  readonly raw_user_meta_data: JsonObject | null
  readonly created_at: DatabaseTime | null
  readonly updated_at: DatabaseTime | null
  readonly banned_until: DatabaseTime | null
  /** Whether `banned_until` is in the future, by the database's clock. */
  readonly banned: boolean
  readonly deleted_at: DatabaseTime | null
  readonly is_anonymous: boolean
  readonly identities: readonly IdentityRow[]
  readonly factors: readonly FactorRow[]
}

/** The subject of an action; no address: a guest. */
export type UserRef = Pick<UserRow, 'id' | 'email'>

export interface IdentityRow {
  readonly id: string
  readonly provider_id: string
  readonly user_id: string
  readonly identity_data: JsonObject | null
  readonly provider: string
  readonly last_sign_in_at: DatabaseTime | null
  readonly created_at: DatabaseTime | null
  readonly updated_at: DatabaseTime | null
  readonly email: string | null
}

/** Without the secret: the verification of a code reads it separately. */
export interface FactorRow {
  readonly id: string
  readonly friendly_name: string | null
  readonly factor_type: string
  readonly status: 'unverified' | 'verified'
  readonly created_at: DatabaseTime
  readonly updated_at: DatabaseTime
}

export type AssuranceLevel = 'aal1' | 'aal2' | 'aal3'

export interface SessionRow {
  readonly id: string
  readonly user_id: string
  readonly aal: AssuranceLevel | null
  readonly factor_id: string | null
  /** Seconds since its sign-in, by the database's clock. */
  readonly age: number
}

/** A session with its sign-in methods: the source of tokens. */
export interface SignedSession extends SessionRow {
  /** Newest first. */
  readonly amr: readonly AmrEntry[]
}

/** One sign-in method of a session: claim `amr` (RFC 8176 has the idea; the values are GoTrue's). */
export interface AmrEntry {
  readonly method: AmrMethod
  /** Unix seconds. */
  readonly timestamp: number
}

export type AmrMethod =
  | 'password'
  | 'otp'
  | 'oauth'
  | 'anonymous'
  | 'totp'
  | 'recovery'
  | 'magiclink'
  | 'email/signup'
  | 'email_change'
  | 'invite'

/** The result of a sign-in for a client (spec/auth.md 3.3). */
export interface SessionJson {
  readonly access_token: string
  readonly token_type: 'bearer'
  /** Seconds. */
  readonly expires_in: number
  /** Unix seconds. */
  readonly expires_at: number
  readonly refresh_token: string
  readonly user: JsonObject
  readonly provider_token?: string
  readonly provider_refresh_token?: string
  readonly weak_password?: { readonly message: string; readonly reasons: readonly string[] }
}
