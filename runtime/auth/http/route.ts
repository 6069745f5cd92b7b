import type { AdminCall, Call, Outcome, SessionCall, UserCall } from '../call/call.ts'
import type { Io } from './io/types.ts'
import type { LimitGroup } from '../rules/limits.ts'
import type { AuthTools } from '../accounts/tools.ts'

/**
 * One row of routes.ts. Guards: `probe` and `open` need no project key, since monitors and browsers come by themselves;
 * `key` does; `user` and `admin` need a bearer token besides. An address that is closed (spec/auth.md 10) is refused by
 * all but `probe`, and but for administrators, so that strangers who come from the same address lock no owner out.
 */
export type Route = RouteBase & Guarded

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

interface RouteBase {
  /** Method and path below /auth/v1; `:name` is a parameter. */
  readonly at: `${Method} /${string}`
  readonly limit: LimitGroup | 'none'
  /** Whether a 4xx of it counts towards closing the source address (spec/auth.md 10). */
  readonly counted: boolean
  readonly io: Io
}

type Handle<C extends Call> = (call: C, tools: AuthTools) => Promise<Outcome>

/** Assurance: what a user's token has to be more than valid; `member` is a session of somebody who is no guest. */
type Guarded =
  | { readonly guard: 'probe' | 'open' | 'key'; readonly assurance: 'none'; readonly handle: Handle<Call> }
  | { readonly guard: 'user'; readonly assurance: 'none'; readonly handle: Handle<UserCall> }
  | { readonly guard: 'user'; readonly assurance: 'session' | 'member'; readonly handle: Handle<SessionCall> }
  | { readonly guard: 'admin'; readonly assurance: 'none'; readonly handle: Handle<AdminCall> }

export function placeOf({ at }: Pick<Route, 'at'>): { readonly method: string; readonly path: string } {
  const [method = '', path = ''] = at.split(' ')
  return { method, path }
}
