/** Every refusal of HTTP itself: one row per code. The code is stable, the sentence may improve. */
interface FailureRow {
  readonly status: number
  readonly message: string
}

export const failureTable = {
  KEY_MISSING: { status: 401, message: 'No API key found in request' },
  KEY_INVALID: { status: 401, message: 'Invalid API key' },
  TOKEN_INVALID: { status: 401, message: 'Invalid token' },
  ORIGIN_REFUSED: { status: 403, message: 'Pages of this origin may not call.' },
  BODY_MALFORMED: { status: 400, message: 'The body must be a JSON object.' },
  QUERY_MISSING: { status: 400, message: 'Must provide query string.' },
  REQUEST_MALFORMED: { status: 400, message: 'The request is malformed.' },
  NOT_FOUND: { status: 404, message: 'There is nothing at this address.' },
  METHOD_NOT_ALLOWED: { status: 405, message: 'This address does not answer the method.' },
  NOT_ACCEPTABLE: { status: 406, message: 'The answer is application/json or application/graphql-response+json.' },
  REQUEST_TIMEOUT: { status: 408, message: 'The request did not arrive in time.' },
  BODY_TOO_LARGE: { status: 413, message: 'The body is too large.' },
  MEDIA_TYPE_UNSUPPORTED: { status: 415, message: 'The body must be sent as application/json in UTF-8.' },
  ADDRESS_CLOSED: { status: 429, message: 'Too many requests from this address have failed; try again later.' },
  RATE_LIMITED: { status: 429, message: 'Too many requests; try again later.' },
  HEADERS_TOO_LARGE: { status: 431, message: 'The headers of the request are too large.' },
  OVERLOADED: { status: 503, message: 'There is too much to do at the moment; try again shortly.' },
  SERVER_STOPPING: { status: 503, message: 'The service is about to end; try again shortly.' },
  UNAVAILABLE: { status: 503, message: 'The service is not ready; try again shortly.' },
  INTERNAL: { status: 500, message: 'Something went wrong on our side.' },
} as const satisfies Readonly<Record<string, FailureRow>>

export type HttpFailureCode = keyof typeof failureTable

/** A refusal on its way to the boundary that answers it. */
export class HttpFailure extends Error {
  readonly code: HttpFailureCode

  /** `message` replaces the table's sentence if more is known. */
  constructor(code: HttpFailureCode, message: string = failureTable[code].message) {
    super(message)
    this.name = 'HttpFailure'
    this.code = code
  }
}

/** Seconds after which a client may retry (RFC 9110 section 10.2.3). */
export const retryAfterSeconds = '1'

/** Headers of every answer with such a status (RFC 9110 section 11.6.1 and 10.2.3). */
export const statusHeaders = (status: number): Readonly<Record<string, string>> => ({
  ...(status === 401 && { 'www-authenticate': 'Bearer' }),
  ...(status === 503 && { 'retry-after': retryAfterSeconds }),
})
