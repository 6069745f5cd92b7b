import { randomUUID } from 'node:crypto'
import { STATUS_CODES } from 'node:http'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { openHeaders } from './cors.ts'
import type { Log } from '../settings/log/events.ts'

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
  NOT_FOUND: { status: 404, message: 'No resource exists at this address.' },
  METHOD_NOT_ALLOWED: { status: 405, message: 'This address does not answer the method.' },
  NOT_ACCEPTABLE: { status: 406, message: 'The answer is application/json or application/graphql-response+json.' },
  REQUEST_TIMEOUT: { status: 408, message: 'The request did not arrive in time.' },
  BODY_TOO_LARGE: { status: 413, message: 'The body is too large.' },
  MEDIA_TYPE_UNSUPPORTED: { status: 415, message: 'The body must be sent as application/json in UTF-8.' },
  ADDRESS_CLOSED: { status: 429, message: 'Too many requests from this address have failed; try again later.' },
  RATE_LIMITED: { status: 429, message: 'Too many requests; try again later.' },
  HEADERS_TOO_LARGE: { status: 431, message: 'The headers of the request are too large.' },
  OVERLOADED: { status: 503, message: 'The service is overloaded; try again shortly.' },
  SERVER_STOPPING: { status: 503, message: 'The service is stopping; try again shortly.' },
  UNAVAILABLE: { status: 503, message: 'The service is not available at the moment; try again shortly.' },
  INTERNAL: { status: 500, message: 'Something went wrong on our side.' },
} as const satisfies Readonly<Record<string, FailureRow>>

export type HttpFailureCode = keyof typeof failureTable

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

/** Converts a failure to the form that its most likely client expects. */
export type RenderBare = (failure: HttpFailure) => {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: object
}

export const renderPlainBare: RenderBare = ({ code, message }) => ({
  status: failureTable[code].status,
  headers: {},
  body: { code, message },
})

/** Status, headers and body of a failure that is answered without a reply object; the connection ends with it. */
export function bareAnswer(code: HttpFailureCode, render: RenderBare): BareAnswer {
  const { status, headers, body } = renderedOnce(code, render)
  return { status, headers: { ...headers, 'x-request-id': randomUUID() }, body }
}

/** The rendered answers: invalid requests may come by the thousand. */
const rendered = new WeakMap<RenderBare, Map<HttpFailureCode, BareAnswer>>()

function renderedOnce(code: HttpFailureCode, render: RenderBare): BareAnswer {
  const known = rendered.get(render) ?? new Map<HttpFailureCode, BareAnswer>()
  const answer = known.get(code) ?? renderAnswer(code, render)
  rendered.set(render, known.set(code, answer))
  return answer
}

function renderAnswer(code: HttpFailureCode, render: RenderBare): BareAnswer {
  const { status, headers, body: value } = render(new HttpFailure(code))
  const body = JSON.stringify(value)
  return {
    status,
    headers: {
      ...openHeaders,
      ...headers,
      'content-type': 'application/json; charset=utf-8',
      'content-length': String(Buffer.byteLength(body)),
      ...statusHeaders(status),
      connection: 'close',
    },
    body,
  }
}

interface BareAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** The same as raw text, for a connection without a readable request. */
export function bareText(code: HttpFailureCode, render: RenderBare): string {
  const { status, headers, body } = bareAnswer(code, render)
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`
}

/** Converts a failure to the body of its area. */
type RenderFailure = (code: HttpFailureCode, message: string) => string

/** Fastify's own refusals that the client caused (Fastify reference, Errors). */
const fastifyCodes: Readonly<Record<string, HttpFailureCode>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'BODY_TOO_LARGE',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'MEDIA_TYPE_UNSUPPORTED',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'REQUEST_MALFORMED',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'BODY_MALFORMED',
  FST_ERR_BAD_URL: 'REQUEST_MALFORMED',
  FST_ERR_MAX_PARAM_LENGTH: 'NOT_FOUND',
  FST_ERR_ASYNC_CONSTRAINT: 'REQUEST_MALFORMED',
  // QUERY without a type (RFC 10008 section 2), which no route supports.
  FST_ERR_ROUTE_MISSING_CONTENT_TYPE: 'METHOD_NOT_ALLOWED',
  ECONNRESET: 'REQUEST_MALFORMED',
}

/** Answers every failure of a scope. */
export function answerFailures(app: FastifyInstance, log: Log, render: RenderFailure): void {
  app.setErrorHandler((error: unknown, request, reply) => sendFailure(reply, recognise(error, request.id, log), render))
}

export function sendFailure(reply: FastifyReply, failure: HttpFailure, render: RenderFailure): FastifyReply {
  const { status } = failureTable[failure.code]
  reply.headers(statusHeaders(status))
  if (!reply.hasHeader('content-type')) reply.header('content-type', 'application/json; charset=utf-8')
  return reply.code(status).send(render(failure.code, failure.message))
}

/** The body of failures outside the areas with their own form. */
export const renderPlainFailure: RenderFailure = (code, message) => JSON.stringify({ code, message })

/** The failure to answer an error with. An unexpected one is logged, and becomes one general sentence with the request's id. */
export function recognise(error: unknown, requestId: string, log: Log): HttpFailure {
  if (error instanceof HttpFailure) return error
  const code = error instanceof Error && 'code' in error ? fastifyCodes[String(error.code)] : undefined
  if (code !== undefined) return new HttpFailure(code)
  log({ kind: 'request-failed', requestId, detail: detailOf(error) })
  return new HttpFailure('INTERNAL', `${failureTable.INTERNAL.message} Request id: ${requestId}`)
}

function detailOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
