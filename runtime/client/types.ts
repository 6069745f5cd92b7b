/** Objects of the service and the library for applications (spec/auth.md 3). Times are RFC 3339 in UTC by default. */

export type Metadata = Record<string, unknown>

export interface User {
  readonly id: string
  readonly aud: string
  readonly role?: string
  /** Absent for a guest. */
  readonly email?: string
  readonly phone?: string
  readonly email_confirmed_at?: string
  readonly phone_confirmed_at?: string
  readonly confirmed_at?: string
  readonly invited_at?: string
  readonly confirmation_sent_at?: string
  readonly recovery_sent_at?: string
  /** A pending address. */
  readonly new_email?: string
  readonly email_change_sent_at?: string
  readonly reauthentication_sent_at?: string
  readonly last_sign_in_at?: string
  readonly app_metadata: Metadata & { readonly provider?: string; readonly providers?: readonly string[] }
  readonly user_metadata: Metadata
  readonly identities?: readonly Identity[]
  readonly factors?: readonly Factor[]
  readonly created_at: string
  readonly updated_at?: string
  readonly banned_until?: string
  readonly deleted_at?: string
  readonly is_anonymous?: boolean
}

export interface Identity {
  readonly identity_id: string
  /** The provider's id of the person; the user's id if the provider is `email`. */
  readonly id: string
  readonly user_id: string
  readonly identity_data?: Metadata
  readonly provider: string
  readonly email?: string
  readonly last_sign_in_at?: string
  readonly created_at?: string
  readonly updated_at?: string
}

export interface Factor {
  readonly id: string
  readonly factor_type: string
  readonly status: 'verified' | 'unverified'
  readonly friendly_name?: string
  readonly created_at: string
  readonly updated_at: string
}

export interface Session {
  readonly access_token: string
  readonly refresh_token: string
  readonly token_type: string
  /** Lifetime of the access token in seconds. */
  readonly expires_in: number
  /** Seconds since 1970. */
  readonly expires_at: number
  readonly user: User
  readonly provider_token?: string | null
  readonly provider_refresh_token?: string | null
}

export type SessionTokens = Pick<Session, 'access_token' | 'refresh_token'>

export type AuthChangeEvent =
  | 'INITIAL_SESSION'
  | 'SIGNED_IN'
  | 'SIGNED_OUT'
  | 'TOKEN_REFRESHED'
  | 'USER_UPDATED'
  | 'PASSWORD_RECOVERY'
  | 'MFA_CHALLENGE_VERIFIED'

/** The data of an operation without a result. */
export type Nothing = Readonly<Record<string, never>>

/** The data of a failed operation: the same keys, each null. */
export type Nulls<Data> = { readonly [Key in keyof Data]: null }
