import type { AuthSettings } from '../settings/setting-keys.ts'
import type { BodyOf, DescribedEndpoint, Io, QueryOf } from '../protocol/io.ts'
import type { SessionRow, UserRow } from '../protocol/records.ts'
import type { JsonObject } from '../../lib/json.ts'

/** The sender of a request, as far as the connection shows. */
export interface Client {
  /** Source address; null if the connection is closed. */
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

/** The answer of an endpoint. */
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

/** 204 without a body. */
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
