import { DatabaseFailure, type DatabaseFailureKind } from '../../db/failures/failures.ts'
import { HttpFailure, failureTable, type HttpFailureCode } from '../../http/boundary.ts'
import { KeyFailure, statusOfTrigger } from '../protocol/input.ts'
import {
  AuthFailure,
  errorBody,
  OauthFailure,
  refuse,
  type ApiVersion,
  type AuthErrorCode,
} from '../protocol/errors.ts'

export interface ErrorAnswer {
  readonly status: number
  readonly body: object
  readonly headers: Readonly<Record<string, string>>
  /** An unexpected error: it is logged. */
  readonly unexpected: boolean
}

const databaseCodes: Readonly<Record<DatabaseFailureKind, AuthErrorCode>> = {
  unavailable: 'unavailable',
  timeout: 'request_timeout',
  overloaded: 'overloaded',
  stopping: 'unavailable',
  conflict: 'conflict',
  locked: 'unavailable',
  stale: 'unexpected_failure',
  'role-refused': 'unexpected_failure',
  refused: 'unexpected_failure',
  'too-large': 'unexpected_failure',
  connections: 'unavailable',
  deadline: 'request_timeout',
  gone: 'request_timeout',
  'across-shards': 'unexpected_failure',
  'resource-limit': 'unexpected_failure',
}

const httpCodes: Partial<Readonly<Record<HttpFailureCode, AuthErrorCode>>> = {
  BODY_TOO_LARGE: 'request_entity_too_large',
  NOT_FOUND: 'not_found',
  METHOD_NOT_ALLOWED: 'method_not_allowed',
  HEADERS_TOO_LARGE: 'request_headers_too_large',
  // Sending it counts towards the time limit of a call (spec/auth.md 2.3).
  REQUEST_TIMEOUT: 'request_timeout',
  OVERLOADED: 'overloaded',
}

const fastifyCodes: Readonly<Record<string, AuthErrorCode>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'request_entity_too_large',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'bad_json',
  FST_ERR_MAX_PARAM_LENGTH: 'not_found',
  FST_ERR_BAD_URL: 'not_found',
  // QUERY without a type (RFC 10008 section 2), which no route supports.
  FST_ERR_ROUTE_MISSING_CONTENT_TYPE: 'method_not_allowed',
  ECONNRESET: 'bad_json',
}

/** Every failure in the form of its kind (spec/auth.md 2.4). Texts of the database and of programs are never sent. */
export function toErrorAnswer(error: unknown, version: ApiVersion, requestId: string): ErrorAnswer {
  if (error instanceof KeyFailure) return plain(401, { message: error.message })
  if (error instanceof OauthFailure) return plain(400, { error: error.error, error_description: error.message })
  const failure = recognise(error) ?? refuse('unexpected_failure')
  const headers = {
    'x-sb-error-code': failure.code,
    ...(failure.retryAfter !== null && { 'retry-after': String(failure.retryAfter) }),
  }
  const unexpected = failure.status >= 500 && failure.code === 'unexpected_failure'
  return { status: failure.status, body: errorBody(failure, version, requestId), headers, unexpected }
}

const plain = (status: number, body: object): ErrorAnswer => ({ status, body, headers: {}, unexpected: false })

function recognise(error: unknown): AuthFailure | null {
  if (error instanceof AuthFailure) return error
  if (error instanceof DatabaseFailure) return ofDatabase(error)
  if (error instanceof HttpFailure) {
    const code = httpCodes[error.code]
    if (code === undefined) return refuse('validation_failed', { status: failureTable[error.code].status })
    return code === 'overloaded' ? refuse(code, error.message) : refuse(code)
  }
  const code = error instanceof Error && 'code' in error ? fastifyCodes[String(error.code)] : undefined
  return code === undefined ? null : refuse(code)
}

/** Triggers of the owner refuse changes of users too, not only their creation. */
function ofDatabase(failure: DatabaseFailure): AuthFailure {
  const status = statusOfTrigger(failure)
  return status === null ? refuse(databaseCodes[failure.kind]) : refuse('unexpected_failure', { status })
}

export function detailOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const own = error.stack ?? error.message
  return error.cause instanceof Error ? `${own}\ncaused by ${error.cause.message}` : own
}
