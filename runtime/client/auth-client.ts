import type { AuthError } from './errors.ts'
import type { AuthListener } from './events.ts'
import type { Identity, Metadata, Nothing, Nulls, Session, SessionTokens, User } from './types.ts'

/** What every operation resolves to. It never rejects for anything that a network, a service or a storage does. */
export type Result<Data extends object> =
  | { readonly data: Data; readonly error: null }
  | { readonly data: Nulls<Data>; readonly error: AuthError }

export interface SignedIn {
  readonly user: User
  readonly session: Session
}

/** Both null where something is still to be confirmed. */
export interface MaybeSignedIn {
  readonly user: User | null
  readonly session: Session | null
}

export interface Landing {
  /** Where the mail's link leads: the site URL unless given, or one of the project's allowed addresses. */
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
    /** Stay on this page; the address to go to is in the data. */
    readonly skipBrowserRedirect?: boolean
  }
}

/** A token of the provider's own, as its button or its software on a phone gives one. */
export interface IdTokenSignIn {
  readonly provider: 'google' | (string & {})
  readonly token: string
  /** Where the token holds a hash of it (`at_hash`). */
  readonly access_token?: string
  /** The one whose hash the token holds. */
  readonly nonce?: string
}

export interface OtpSignIn {
  readonly email: string
  readonly options?: Landing & { readonly data?: Metadata; readonly shouldCreateUser?: boolean }
}

export type MailType = 'signup' | 'invite' | 'recovery' | 'magiclink' | 'email_change' | 'email'

/** A code that was typed, or the token of a link that an application of its own has opened. */
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
  /** Where the project asks for it when a password changes. */
  readonly current_password?: string
  /** The code that `reauthenticate` has mailed. */
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
  /** What came of the return from a mail or provider that this page's address held; without one, of nothing. */
  readonly initialize: () => Promise<Result<Nothing>>
  /** Creates a user. The session is null while the address has to be confirmed. */
  readonly signUp: (credentials: SignUp) => Promise<Result<MaybeSignedIn>>
  readonly signInWithPassword: (credentials: Password) => Promise<Result<SignedIn>>
  /** Goes to the provider; where there is no page, or if it is to stay, `data.url` is where to go. */
  readonly signInWithOAuth: (how: OauthSignIn) => Promise<Result<{ readonly provider: string; readonly url: string }>>
  readonly signInWithIdToken: (proof: IdTokenSignIn) => Promise<Result<SignedIn>>
  /** Creates a new guest, every time: look at `getSession` first. */
  readonly signInAnonymously: (how?: { readonly options?: { readonly data?: Metadata } }) => Promise<Result<SignedIn>>
  /** Mails a link and a code. */
  readonly signInWithOtp: (how: OtpSignIn) => Promise<Result<MaybeSignedIn>>
  /** Both null after the first of the two confirmations that a change of address may need. */
  readonly verifyOtp: (proof: VerifyOtp) => Promise<Result<MaybeSignedIn>>
  readonly resend: (mail: Resend) => Promise<Result<MaybeSignedIn>>
  /** Mails a link that signs the person in so that a new password can be set. */
  readonly resetPasswordForEmail: (
    email: string,
    options?: { readonly redirectTo?: string },
  ) => Promise<Result<Nothing>>
  /** Finishes a sign-in of the PKCE flow; the start of the page does it by itself where it finds a code. */
  readonly exchangeCodeForSession: (code: string) => Promise<Result<SignedIn>>
  /** The stored session, refreshed when it ends within 90 s. Its user is as of then; `getUser` asks. */
  readonly getSession: () => Promise<Result<{ readonly session: Session | null }>>
  /** The user as the service knows it now: of the session, or of an access token. */
  readonly getUser: (accessToken?: string) => Promise<Result<{ readonly user: User }>>
  /** Takes over a session that came another way: from a server, or at aal2 from verifying a second factor. */
  readonly setSession: (tokens: SessionTokens) => Promise<Result<SignedIn>>
  readonly refreshSession: (tokens?: Pick<Session, 'refresh_token'>) => Promise<Result<SignedIn>>
  /** A new address stays `new_email` until it is confirmed. */
  readonly updateUser: (changes: UserAttributes, options?: Landing) => Promise<Result<{ readonly user: User }>>
  /** Mails the code that `updateUser` may need. */
  readonly reauthenticate: () => Promise<Result<Nothing>>
  /** The ways in which the user may sign in, as the service knows them now. */
  readonly getUserIdentities: () => Promise<Result<{ readonly identities: readonly Identity[] }>>
  /** Goes to a provider whose account is added to the user; the project has to allow it (`manual_linking`). */
  readonly linkIdentity: (how: OauthSignIn) => Promise<Result<{ readonly provider: string; readonly url: string }>>
  /** The last one stays. */
  readonly unlinkIdentity: (identity: Pick<Identity, 'identity_id'>) => Promise<Result<Nothing>>
  /** When the service cannot be reached the session stays, since it would go on elsewhere. */
  readonly signOut: (how?: SignOut) => Promise<Result<Nothing>>
  /** Calls back with the session first (`INITIAL_SESSION`), then with every change of it, in every tab. */
  readonly onAuthStateChange: (listener: AuthListener) => {
    readonly data: { readonly subscription: { readonly unsubscribe: () => void } }
  }
  readonly startAutoRefresh: () => void
  readonly stopAutoRefresh: () => void
}
