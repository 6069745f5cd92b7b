import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Log } from '../settings/log/events.ts'
import { HttpFailure, failureTable, statusHeaders } from './failures.ts'
import type { HttpFailureCode } from './failures.ts'

/** Converts a failure to the body of its area. */
export type RenderFailure = (code: HttpFailureCode, message: string) => string

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

/**
 * Answers every failure of a scope. An unexpected error becomes one general sentence with the request's id, and its
 * detail goes to the log only.
 */
export function answerFailures(app: FastifyInstance, log: Log, render: RenderFailure): void {
  app.setErrorHandler((error: unknown, request, reply) => {
    const failure = recognise(error)
    if (failure !== null) return sendFailure(reply, failure, render)
    log({ kind: 'request-failed', requestId: request.id, detail: detailOf(error) })
    return sendFailure(reply, unexpected(request), render)
  })
}

/** Sends a failure with the headers of its status. */
export function sendFailure(reply: FastifyReply, failure: HttpFailure, render: RenderFailure): FastifyReply {
  const { status } = failureTable[failure.code]
  reply.headers(statusHeaders(status))
  if (!reply.hasHeader('content-type')) reply.header('content-type', 'application/json; charset=utf-8')
  return reply.code(status).send(render(failure.code, failure.message))
}

/** The body of failures outside the areas with their own form. */
export const renderPlainFailure: RenderFailure = (code, message) => JSON.stringify({ code, message })

function recognise(error: unknown): HttpFailure | null {
  if (error instanceof HttpFailure) return error
  const code = error instanceof Error && 'code' in error ? fastifyCodes[String(error.code)] : undefined
  return code === undefined ? null : new HttpFailure(code)
}

function unexpected(request: FastifyRequest): HttpFailure {
  return new HttpFailure('INTERNAL', `${failureTable.INTERNAL.message} Request id: ${request.id}`)
}

function detailOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
