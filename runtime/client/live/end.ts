import { isPassing, toAuthError } from '../errors.ts'
import { errorOf, GraphqlError, toGraphqlError, type GraphqlErrorEntry } from '../graphql.ts'

/** How a connection of a stream ended. */
export type End =
  /** The service has no more answers. */
  | { readonly kind: 'completed' }
  /** The same request would be refused again. */
  | { readonly kind: 'refused'; readonly error: GraphqlError }
  /** The key or the token was. */
  | { readonly kind: 'unauthorized'; readonly error: GraphqlError }
  /** It may succeed if it is tried again, after the time that the service wants to be spared. */
  | { readonly kind: 'lost'; readonly error: GraphqlError; readonly waitMs: number }

/** Codes of refusals that say nothing of the request (spec/graphql.md 14.2, outcomes `unavailable` and `overloaded`). */
export const passingCodes: ReadonlySet<string> = new Set([
  'DATABASE_CONNECTIONS_EXHAUSTED',
  'DATABASE_UNAVAILABLE',
  'OVERLOADED',
  'SCHEMA_CHANGED',
  'SERVER_STOPPING',
])

export const lost = (code: string, message: string, waitMs = 0): End => ({
  kind: 'lost',
  error: new GraphqlError(code, message, { status: 0 }),
  waitMs,
})

export const unauthorized = (message: string): End => ({
  kind: 'unauthorized',
  error: new GraphqlError('bad_api_key', message, { status: 401 }),
})

/** The end that a failed request is, or an answer that is none. */
export function endOfFailure(thrown: unknown): End {
  const cause = toAuthError(thrown)
  const error = toGraphqlError(thrown)
  if (cause.status === 401) return { kind: 'unauthorized', error }
  if (isPassing(cause)) return { kind: 'lost', error, waitMs: (cause.retryAfter ?? 0) * 1000 }
  return { kind: 'refused', error }
}

/** The end that errors of GraphQL are. `waitMs`: for how long the service wants to be spared. */
export function endOfErrors(errors: readonly GraphqlErrorEntry[], status = 0, waitMs = 0): End {
  const error = errorOf(errors, status)
  if (status === 401) return { kind: 'unauthorized', error }
  return passingCodes.has(error.code) ? { kind: 'lost', error, waitMs } : { kind: 'refused', error }
}
