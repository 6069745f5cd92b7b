import type { AdminCall, Call, Outcome, SessionCall, UserCall } from '../call/call.ts'
import type { Io } from '../protocol/io.ts'
import type { LimitGroup } from '../rules/rate-limits.ts'
import type { AuthTools } from '../accounts/tools.ts'

/**
 * One row of routes.ts. Guards: `probe` and `open` need no project key, because monitors and browsers have none; `key`
 * does; `user` and `admin` need a bearer token besides. A blocked address (spec/auth.md 10) is refused by all but
 * `probe`, and except for administrators, so that strangers at the same address lock no owner out.
 */
export type Route = RouteBase & Guarded

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

interface RouteBase {
  /** Method and path below /auth/v1; `:name` is a parameter. */
  readonly at: `${Method} /${string}`
  readonly limit: LimitGroup | 'none'
  /** Whether a 4xx of it counts towards blocking the source address (spec/auth.md 10). */
  readonly counted: boolean
  readonly io: Io
}

/**
 * A row without the types of its endpoint's query and body: TypeScript lets a method take more than its interface
 * gives. `route` has checked that they are those of the row's io.
 *
 * Assurance: further conditions on a user's token; `member` is a session of a user who is not a guest.
 */
type Guarded =
  | {
      readonly guard: 'probe' | 'open' | 'key'
      readonly assurance: 'none'
      handle(call: Call, tools: AuthTools): Promise<Outcome>
    }
  | { readonly guard: 'user'; readonly assurance: 'none'; handle(call: UserCall, tools: AuthTools): Promise<Outcome> }
  | {
      readonly guard: 'user'
      readonly assurance: 'session' | 'member'
      handle(call: SessionCall, tools: AuthTools): Promise<Outcome>
    }
  | { readonly guard: 'admin'; readonly assurance: 'none'; handle(call: AdminCall, tools: AuthTools): Promise<Outcome> }

/** A row whose endpoint reads no more than its own io declares. */
type Reading<R extends Route, I extends Io> = R extends Route
  ? R & {
      readonly io: I
      readonly handle: (
        call: Parameters<R['handle']>[0] & Pick<Call<NoInfer<I>>, 'query' | 'body'>,
        tools: AuthTools,
      ) => Promise<Outcome>
    }
  : never

/** A row of the table; it is a type error if the endpoint reads undeclared input. */
export const route = <I extends Io>(row: Reading<Route, I>): Route => row

export function routeAt({ at }: Pick<Route, 'at'>): { readonly method: string; readonly path: string } {
  const [method = '', path = ''] = at.split(' ')
  return { method, path }
}
