import type { AuthError } from './errors.ts'
import type { AuthListener } from './events.ts'
import type { Identity, Metadata, Nothing, Nulls, Session, SessionTokens, User } from './types.ts'

/** The result of every operation. It never rejects because of a network, a service or a storage. */
export type Result<Data extends object> =
  | { readonly data: Data; readonly error: null }
  | { readonly data: Nulls<Data>; readonly error: AuthError }

export interface SignedIn {
  readonly user: User
  readonly session: Session
}

/** Both null while a confirmation is pending. */
export interface MaybeSignedIn {
  readonly user: User | null
  readonly session: Session | null
}

export interface Landing {
  /** The destination of the mail's link: by default the site URL, or one of the project's allowed addresses. */
  readonly emailRedirectTo?: string
}

export interface SignUp {
  readonly email: string
  readonly password: string
  readonly options?: Landing & { readonly data?: Metadata }
}

export interface Password {
  readonly email: string
  readonly password: string
}

export interface OauthSignIn {
  readonly provider: 'google' | (string & {})
  readonly options?: {
    readonly redirectTo?: string
    /** Further scopes, separated by spaces. */
    readonly scopes?: string
    /** Further parameters for the provider, such as `prompt`. */
    readonly queryParams?: Readonly<Record<string, string>>
    /** Stay on this page; the provider's address is in the data. */
    readonly skipBrowserRedirect?: boolean
  }
}

/** A token of the provider, from its button or its software on a phone. */
export interface IdTokenSignIn {
  readonly provider: 'google' | (string & {})
  readonly token: string
  /** If the token contains its hash (`at_hash`). */
  readonly access_token?: string
  /** The nonce whose hash the token contains. */
  readonly nonce?: string
}

export interface OtpSignIn {
  readonly email: string
  readonly options?: Landing & { readonly data?: Metadata; readonly shouldCreateUser?: boolean }
}

export type MailType = 'signup' | 'invite' | 'recovery' | 'magiclink' | 'email_change' | 'email'

/** A typed code, or the token of a link that an application has opened itself. */
export type VerifyOtp =
  | {
      readonly email: string
      readonly token: string
      readonly type: MailType
      readonly options?: { readonly redirectTo?: string }
    }
  | { readonly token_hash: string; readonly type: MailType }

export interface Resend {
  readonly type: 'signup' | 'email_change'
  readonly email: string
  readonly options?: Landing
}

export interface UserAttributes {
  readonly email?: string
  readonly password?: string
  /** If the project requires it for a new password. */
  readonly current_password?: string
  /** The code that `reauthenticate` mails. */
  readonly nonce?: string
  /** Merged into `user_metadata`; null removes a key. */
  readonly data?: Metadata
}

export interface SignOut {
  /** `global`: all sessions of the user; `local`: this one; `others`: all but this one. */
  readonly scope?: 'global' | 'local' | 'others'
}

/** The sessions of one person in one storage (spec/auth.md 14.1). */
export interface AuthClient {
  /** The result of the page's return from a mail or provider; without a return, empty. */
  readonly initialize: () => Promise<Result<Nothing>>
  /** Creates a user. The session is null until the address is confirmed. */
  readonly signUp: (credentials: SignUp) => Promise<Result<MaybeSignedIn>>
  readonly signInWithPassword: (credentials: Password) => Promise<Result<SignedIn>>
  /** Navigates to the provider; without a page, or with `skipBrowserRedirect`, `data.url` is the address. */
  readonly signInWithOAuth: (how: OauthSignIn) => Promise<Result<{ readonly provider: string; readonly url: string }>>
  readonly signInWithIdToken: (proof: IdTokenSignIn) => Promise<Result<SignedIn>>
  /** Creates a new guest with each call: check `getSession` first. */
  readonly signInAnonymously: (how?: { readonly options?: { readonly data?: Metadata } }) => Promise<Result<SignedIn>>
  /** Mails a link and a code. */
  readonly signInWithOtp: (how: OtpSignIn) => Promise<Result<MaybeSignedIn>>
  /** Both null after the first of two confirmations for a change of address. */
  readonly verifyOtp: (proof: VerifyOtp) => Promise<Result<MaybeSignedIn>>
  readonly resend: (mail: Resend) => Promise<Result<MaybeSignedIn>>
  /** Mails a link that signs the person in so that a new password can be set. */
  readonly resetPasswordForEmail: (
    email: string,
    options?: { readonly redirectTo?: string },
  ) => Promise<Result<Nothing>>
  /** Finishes a sign-in of the PKCE flow; a page with a code does it automatically on start. */
  readonly exchangeCodeForSession: (code: string) => Promise<Result<SignedIn>>
  /** The stored session, refreshed if it ends within 90 s. Its user is as stored; `getUser` asks the service. */
  readonly getSession: () => Promise<Result<{ readonly session: Session | null }>>
  /** The present user from the service: of the session, or of an access token. */
  readonly getUser: (accessToken?: string) => Promise<Result<{ readonly user: User }>>
  /** Adopts a session of other origin: from a server, or at aal2 from verifying a second factor. */
  readonly setSession: (tokens: SessionTokens) => Promise<Result<SignedIn>>
  readonly refreshSession: (tokens?: Pick<Session, 'refresh_token'>) => Promise<Result<SignedIn>>
  /** A new address stays `new_email` until it is confirmed. */
  readonly updateUser: (changes: UserAttributes, options?: Landing) => Promise<Result<{ readonly user: User }>>
  /** Mails the code that `updateUser` may need. */
  readonly reauthenticate: () => Promise<Result<Nothing>>
  /** The user's present sign-in methods from the service. */
  readonly getUserIdentities: () => Promise<Result<{ readonly identities: readonly Identity[] }>>
  /** Navigates to a provider whose account is added to the user; the project must allow it (`manual_linking`). */
  readonly linkIdentity: (how: OauthSignIn) => Promise<Result<{ readonly provider: string; readonly url: string }>>
  /** The last one cannot be removed. */
  readonly unlinkIdentity: (identity: Pick<Identity, 'identity_id'>) => Promise<Result<Nothing>>
  /** If the service cannot be reached the session stays, because it remains valid elsewhere. */
  readonly signOut: (how?: SignOut) => Promise<Result<Nothing>>
  /** Calls back with the session first (`INITIAL_SESSION`), then with every change of it, in every tab. */
  readonly onAuthStateChange: (listener: AuthListener) => {
    readonly data: { readonly subscription: { readonly unsubscribe: () => void } }
  }
  readonly startAutoRefresh: () => void
  readonly stopAutoRefresh: () => void
}
