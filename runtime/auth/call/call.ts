import type { AuthSettings } from '../settings/setting-keys.ts'
import type { BodyOf, DescribedEndpoint, Io, QueryOf } from '../protocol/io.ts'
import type { SessionRow, UserRow } from '../protocol/records.ts'
import type { JsonObject } from '../../lib/json.ts'
import { refuse, type AuthFailure } from '../protocol/errors.ts'
import { isTooLong, judgeStrength, type PasswordRules, readChallenge, type Challenge } from '../rules/credentials.ts'
import { judgeRedirect } from '../rules/redirect.ts'
import {
  largestMetadata,
  merged,
  outgrows,
  type Metadata,
  emailAppMetadata,
  emailUserMetadata,
} from '../rules/user-json.ts'
import { judgeEmail, normalEmail } from '../rules/email.ts'

/** The sender of a request, as far as the connection shows. */
export interface Client {
  readonly address: string | null
  /** The key of limits: the address, of IPv6 its /64. */
  readonly source: string
  readonly userAgent: string | null
}

/**
 * A request for endpoints: after all checks of routes.ts, independent of HTTP. `Call<typeof io.signUp>` has the query
 * and the body that io.signUp declares; a function that reads neither takes any `Call`.
 */
export interface Call<I extends Io = DescribedEndpoint> {
  /** The settings at the beginning of the call. */
  readonly settings: AuthSettings
  readonly client: Client
  readonly params: Readonly<Record<string, string>>
  readonly query: QueryOf<I>
  readonly body: BodyOf<I>
  /** The user of an optional bearer token. Rejects as spec/auth.md 2.2 says. */
  readonly bearer: () => Promise<{ readonly user: UserRow; readonly session: SessionRow | null }>
  /** The requested destination, unchecked; see destination.ts. */
  readonly askedRedirect: RequestedRedirect
}

export interface RequestedRedirect {
  /** From the header or the query; empty: none. */
  readonly asked: string
  readonly referer: string
}

/** The part of a call that matters after its answer. */
export type Actor = Pick<Call, 'settings' | 'client'>

/** A call with a user's token that passed every check of spec/auth.md 2.2. */
export interface UserCall<I extends Io = DescribedEndpoint> extends Call<I> {
  readonly user: UserRow
  /** Null: the token names no session. Its `aal` is at most the token's. */
  readonly session: SessionRow | null
}

/** A user's call with a session, at an assurance of routes.ts. */
export interface SessionCall<I extends Io = DescribedEndpoint> extends UserCall<I> {
  readonly session: SessionRow
}

/** A call with a token of an administrator's role. */
export interface AdminCall<I extends Io = DescribedEndpoint> extends Call<I> {
  readonly adminRole: string
}

export interface Outcome {
  readonly status: number
  /** Null: no body. */
  readonly body: JsonObject | readonly unknown[] | null
  readonly headers: Readonly<Record<string, string>>
  /** An internal failure although the browser is redirected: for the log only. */
  readonly failure?: Error
}

/** With status 200 by default. */
export function json<B extends JsonObject | readonly unknown[]>(body: B, headers: Outcome['headers'] = {}): Outcome {
  return { status: 200, body, headers }
}

export function noContent(): Outcome {
  return { status: 204, body: null, headers: {} }
}

/** Redirects the browser; the address may contain tokens, so it is neither cached nor sent as a referrer. */
export function redirect(status: 302 | 303, location: string): Outcome {
  // Headers are ASCII (RFC 9110 section 5.5): other letters are encoded by RFC 3987 section 3.1.
  const written = location.replace(/[^\x21-\x7e]+/gu, encodeURIComponent)
  return {
    status,
    body: null,
    headers: { location: written, 'referrer-policy': 'no-referrer', 'cache-control': 'no-store' },
  }
}

/** Checks a new password. Throws 422 `weak_password` and 400 `validation_failed` (spec/auth.md 4.2). */
export function checkNewPassword(password: string, rules: PasswordRules): void {
  const weakness = judgeStrength(password, rules)
  if (weakness !== null) throw refuse('weak_password', { message: weakness.message, weakReasons: weakness.reasons })
  if (isTooLong(password)) throw refuse('validation_failed', 'Password cannot be longer than 72 characters')
}

/**
 * The destination of a redirect: that of header or query, else the page of the call if it is allowed, else the site
 * (spec/auth.md 8). Throws 400 `validation_failed` for a destination that is on neither list.
 */
export function destinationOf({ askedRedirect: { asked, referer }, settings }: Call): string {
  if (asked === '') {
    const page = judgeRedirect(referer, settings)
    return page.kind === 'allowed' ? page.url : settings.site_url
  }
  const verdict = judgeRedirect(asked, settings)
  if (verdict.kind === 'allowed') return verdict.url
  throw refuse('validation_failed', 'redirect_to is not the Site URL or on the allowed list')
}

/** Metadata that tokens could not carry is refused when it is set: all functions throw 422 `metadata_too_large`. */

/** Of a new account, in its final form. */
export function checkNewMetadata(user: JsonObject, app: JsonObject): void {
  if (outgrows({ user, app }, null)) throw tooLarge()
}

/** Of a sign-up by address. Every id is as long as this one. */
export function checkSignUpMetadata(email: string, data: JsonObject): void {
  const id = '00000000-0000-0000-0000-000000000000'
  checkNewMetadata(emailUserMetadata(id, email, data, false), emailAppMetadata)
}

/** Of a locked user; null changes nothing. */
export function checkMetadataChange(
  { raw_app_meta_data: app, raw_user_meta_data: user }: UserRow,
  change: Metadata,
): void {
  const after = { user: merged(user, change.user ?? {}), app: merged(app, change.app ?? {}) }
  if (outgrows(after, { user, app })) throw tooLarge()
}

const tooLarge = (): AuthFailure =>
  refuse(
    'metadata_too_large',
    `app_metadata and user_metadata may have at most ${largestMetadata} bytes together, as JSON`,
  )

/** The input of a request for a mail: to sign up, or to sign in again. Checked. */
export interface Registration {
  readonly email: string
  readonly data: JsonObject
  readonly challenge: Challenge | null
  readonly destination: string
}

/** The stored form of a given address. Throws 400 `validation_failed` (spec/auth.md 4.2). */
export function checkedEmail(address: string): string {
  switch (judgeEmail(address)) {
    case 'too-long':
      throw refuse('validation_failed', 'An email address is too long')
    case 'malformed':
      throw refuse('validation_failed', 'Unable to validate email address: invalid format')
    case null:
      return normalEmail(address)
  }
}

/** A proof key in a body or a query (RFC 7636). */
interface GivenChallenge {
  readonly code_challenge: string | undefined
  readonly code_challenge_method: string | undefined
}

/** The proof key of a flow, or null. Throws 400 `validation_failed` (spec/auth.md 6.1). */
export function checkedChallenge(given: GivenChallenge): Challenge | null {
  const { code_challenge: challenge = '', code_challenge_method: method = '' } = given
  const verdict = readChallenge(challenge, method)
  if (verdict.kind === 'refused') throw refuse('validation_failed', verdict.reason)
  return verdict.kind === 'none' ? null : verdict.challenge
}
