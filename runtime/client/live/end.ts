import { isPassing, toAuthError } from '../errors.ts'
import { errorOf, GraphqlError, toGraphqlError, type GraphqlErrorEntry } from '../graphql.ts'

export type End =
  | { readonly kind: 'completed' }
  /** The same request would be refused again. */
  | { readonly kind: 'refused'; readonly error: GraphqlError }
  /** The key or the token was refused. */
  | { readonly kind: 'unauthorized'; readonly error: GraphqlError }
  /** A retry may succeed, after the time that the service asks for. */
  | { readonly kind: 'lost'; readonly error: GraphqlError; readonly waitMs: number }

/** Codes of temporary refusals (spec/graphql.md 14.2; those of HTTP for requests over a socket). */
export const passingCodes: ReadonlySet<string> = new Set([
  'ADDRESS_CLOSED',
  'DATABASE_CONNECTIONS_EXHAUSTED',
  'DATABASE_LOCKED',
  'DATABASE_UNAVAILABLE',
  'DOCUMENT_DAMAGED',
  'DOCUMENT_OUTDATED',
  'INTERNAL',
  'OVERLOADED',
  'RATE_LIMITED',
  'REQUEST_TIMEOUT',
  'SCHEMA_CHANGED',
  'SERVER_STOPPING',
  'UNAVAILABLE',
])

export const credentialCodes: ReadonlySet<string> = new Set(['KEY_INVALID', 'KEY_MISSING', 'TOKEN_INVALID'])

export const lost = (code: string, message: string, waitMs = 0): End => ({
  kind: 'lost',
  error: new GraphqlError(code, message, { status: 0 }),
  waitMs,
})

export const unauthorized = (message: string): End => ({
  kind: 'unauthorized',
  error: new GraphqlError('bad_api_key', message, { status: 401 }),
})

/** The end after a failed request or an invalid answer. */
export const endOfFailure = (thrown: unknown): End =>
  endOf(toGraphqlError(thrown), (toAuthError(thrown).retryAfter ?? 0) * 1000)

/** The end after errors of GraphQL. `waitMs`: the pause that the service asks for. */
export const endOfErrors = (errors: readonly GraphqlErrorEntry[], status = 0, waitMs = 0): End =>
  endOf(errorOf(errors, status), waitMs)

function endOf(error: GraphqlError, waitMs: number): End {
  if (error.status === 401 || credentialCodes.has(error.code)) return { kind: 'unauthorized', error }
  // Errors are an answer, with or without a code.
  const code = error.errors.length > 0 ? '' : error.code
  return passingCodes.has(error.code) || isPassing({ code, status: error.status })
    ? { kind: 'lost', error, waitMs }
    : { kind: 'refused', error }
}
