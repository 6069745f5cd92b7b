import type { AuthSettings } from '../settings/setting-keys.ts'
import type { BodyOf, DescribedEndpoint, Io, QueryOf } from '../protocol/io.ts'
import type { SessionRow, UserRow } from '../protocol/records.ts'
import type { JsonObject } from '../../lib/json.ts'

/** The sender of a request, as far as the connection shows. */
export interface Client {
  /** Source address; null where the connection has none any more. */
  readonly address: string | null
  /** What limits count by: the address, of IPv6 its /64. */
  readonly source: string
  readonly userAgent: string | null
}

/**
 * A request as endpoints see it: everything checked that routes.ts asks for, nothing of HTTP. `Call<typeof io.signUp>`
 * has the query and the body that io.signUp describes; a function that reads neither takes any `Call`.
 */
export interface Call<I extends Io = DescribedEndpoint> {
  /** As they were when the call began. */
  readonly settings: AuthSettings
  readonly client: Client
  readonly params: Readonly<Record<string, string>>
  readonly query: QueryOf<I>
  readonly body: BodyOf<I>
  /** Whose token came along, for endpoints that may also do without one. Rejects as spec/auth.md 2.2 says. */
  readonly bearer: () => Promise<{ readonly user: UserRow; readonly session: SessionRow | null }>
  /** The destination that was asked for, unchecked; see destination.ts. */
  readonly askedRedirect: RequestedRedirect
}

export interface RequestedRedirect {
  /** From the header or the query; empty: none. */
  readonly asked: string
  readonly referer: string
}

/** What of a call still counts once it is answered. */
export type Actor = Pick<Call, 'settings' | 'client'>

/** A call with a user's token that passed every check of spec/auth.md 2.2. */
export interface UserCall<I extends Io = DescribedEndpoint> extends Call<I> {
  readonly user: UserRow
  /** Null: the token names none. Its `aal` is no more than the token's own. */
  readonly session: SessionRow | null
}

/** A user's call by a session, as the assurance column of routes.ts can ask for. */
export interface SessionCall<I extends Io = DescribedEndpoint> extends UserCall<I> {
  readonly session: SessionRow
}

/** A call with a token of an administrator's role. */
export interface AdminCall<I extends Io = DescribedEndpoint> extends Call<I> {
  readonly adminRole: string
}

/** What an endpoint answers. */
export interface Outcome {
  readonly status: number
  /** Null: no body at all. */
  readonly body: JsonObject | readonly unknown[] | null
  readonly headers: Readonly<Record<string, string>>
  /** What failed on our side although the browser is sent on: for the log alone. */
  readonly failure?: Error
}

/** 200, unless another status is given. */
export function json<B extends JsonObject | readonly unknown[]>(body: B, headers: Outcome['headers'] = {}): Outcome {
  return { status: 200, body, headers }
}

/** 204 without a body. */
export function noContent(): Outcome {
  return { status: 204, body: null, headers: {} }
}

/** Redirects the browser; the address may hold tokens, so it is neither cached nor sent as a referrer. */
export function redirect(status: 302 | 303, location: string): Outcome {
  // Headers hold ASCII alone (RFC 9110 section 5.5): other letters are encoded as RFC 3987 section 3.1 has it.
  const written = location.replace(/[^\x21-\x7e]+/gu, encodeURIComponent)
  return {
    status,
    body: null,
    headers: { location: written, 'referrer-policy': 'no-referrer', 'cache-control': 'no-store' },
  }
}
