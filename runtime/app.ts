import fastify from 'fastify'
import type { FastifyInstance } from 'fastify'
import { registerOpenapi } from './admin/openapi.ts'
import { registerAdmin } from './admin/register.ts'
import type { AdminParts } from './admin/call.ts'
import { registerAuth } from './auth/register.ts'
import type { AuthParts } from './auth/register.ts'
import { toErrorAnswer } from './auth/boundary.ts'
import { registerDashboard } from './dashboard/register.ts'
import type { GraphqlRoute } from './graphql/route.ts'
import { registerGraphql } from './graphql/route.ts'
import { answerFailures, renderPlainFailure, sendFailure } from './http/boundary.ts'
import { clientAddress, limitSource } from './http/client-address.ts'
import { answerPreflight, openToEveryOrigin } from './http/cors.ts'
import { answerClientErrors } from './http/client-errors.ts'
import { HttpFailure } from './http/failures.ts'
import { registerHealth } from './http/health.ts'
import type { Health } from './http/health.ts'
import { requestIdOf } from './http/request-id.ts'
import { longestToken } from './identity/jwt.ts'
import type { Log } from './log/events.ts'

export interface AppParts extends Omit<GraphqlRoute, 'closedFor' | 'sourceOf'> {
  readonly health: () => Promise<Health>
  readonly bodyLimitBytes: number
  /** Whether the log writes how requests ended: to tell it costs each of them. */
  readonly logsRequests: boolean
  /** Null: this process serves no auth. */
  readonly auth: AdminParts | null
}

/** A client gets this long to send one request: slow ones would hold sockets for ever. */
const requestTimeoutMs = 30_000

/** All headers of a request together: the longest token, and for the others as much as Node has for all. */
const maxHeaderSize = longestToken + 16_384

const noSchemas = (): never => {
  throw new Error('No route has a schema.')
}

/** Makes the application; it listens nowhere yet. */
export function buildApp(parts: AppParts): FastifyInstance {
  const app = fastify({
    logger: false,
    trustProxy: false,
    bodyLimit: parts.bodyLimitBytes,
    requestTimeout: requestTimeoutMs,
    http: { maxHeaderSize },
    // Of these nobody knows which area they were for: it is tokens that make headers long, so auth's clients are told.
    clientErrorHandler: answerClientErrors((failure) => toErrorAnswer(failure, 'initial', '')),
    // While it closes, what still arrives on an open connection is answered as ever, and the connection ends with it.
    return503OnClosing: false,
    requestIdHeader: false,
    // Every body is read by a decoder of ours: without these Fastify loads a validator and a serializer of JSON Schema.
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
    genReqId: requestIdOf,
    frameworkErrors: (_error, _request, reply) =>
      void sendFailure(openToEveryOrigin(reply), new HttpFailure('REQUEST_MALFORMED'), renderPlainFailure),
  })
  meetRequests(app)
  if (parts.logsRequests) logRequests(app, parts.log)
  answerFailures(app, parts.log, renderPlainFailure)
  app.setNotFoundHandler((_request, reply) => sendFailure(reply, new HttpFailure('NOT_FOUND'), renderPlainFailure))
  registerHealth(app, parts.health)
  const addressHeader = parts.auth?.addressHeader ?? null
  const sourceOf: GraphqlRoute['sourceOf'] = (request) => limitSource(clientAddress(request, addressHeader))
  registerGraphql(app, { ...parts, sourceOf, closedFor: closedAddresses(parts.auth, sourceOf) })
  if (parts.auth !== null) {
    registerAuth(app, parts.auth)
    registerAdmin(app, parts.auth)
    registerOpenapi(app)
    registerDashboard(app)
  }
  return app
}

/** An address that auth has closed is closed to the whole project (spec/auth.md section 10). */
function closedAddresses(auth: AuthParts | null, sourceOf: GraphqlRoute['sourceOf']): GraphqlRoute['closedFor'] {
  if (auth === null) return () => 0
  const { throttle } = auth.tools
  return (request) => throttle.closedFor(() => sourceOf(request))
}

/**
 * Notes when a request came, puts its id on every answer, and lets pages of every origin call. A preflight is answered at once and needs
 * no key, since browsers send none. One hook, since each of them costs every request.
 */
function meetRequests(app: FastifyInstance): void {
  app.decorateRequest('arrivedAt', 0)
  app.addHook('onRequest', (request, reply, done) => {
    request.arrivedAt = performance.now()
    openToEveryOrigin(reply.header('x-request-id', request.id))
    if (request.method === 'OPTIONS') answerPreflight(request, reply)
    else done()
  })
}

/** Tells the log how each request ended. The query string may hold data: left out. */
function logRequests(app: FastifyInstance, log: Log): void {
  app.addHook('onResponse', (request, reply, done) => {
    log({
      kind: 'request',
      requestId: request.id,
      method: request.method,
      path: request.url.split('?', 1)[0] ?? '',
      status: reply.statusCode,
      ms: reply.elapsedTime,
    })
    done()
  })
}
