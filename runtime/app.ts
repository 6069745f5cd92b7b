import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import fastify from 'fastify'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { registerOpenapi } from './console/admin/openapi.ts'
import { guardForOwner, registerAdmin } from './console/admin/register.ts'
import type { AdminParts } from './console/admin/call.ts'
import { toErrorAnswer } from './auth/http/boundary.ts'
import { registerAuth } from './auth/http/register.ts'
import type { AuthParts } from './auth/http/register.ts'
import { registerDashboard } from './console/register.ts'
import type { LiveStreams } from './graphql/http/event-stream.ts'
import { type GraphqlRoute, registerGraphql } from './graphql/http/route.ts'
import { answerFailures, renderPlainFailure, sendFailure, type RenderBare, HttpFailure } from './http/boundary.ts'
import { createSourceOf, requestIdOf } from './http/request-context.ts'
import { answerPreflight, openToOrigins, type Origins } from './http/cors.ts'
import { boundBodies, sendInPieces } from './http/bodies.ts'
import { registerHealth } from './http/health.ts'
import type { HealthChecks } from './http/health.ts'
import { answersSizeOf, bodiesSize, usualServerLimits } from './http/limits.ts'
import type { RateLimit } from './http/rate-limit.ts'
import { answerError, createServers, makeServer, type Servers } from './http/servers.ts'
import { createByteBudget, type ByteBudget } from './lib/byte-budget.ts'
import type { Log } from './settings/log/events.ts'
import type { HttpObservation, Metrics } from './console/observe/metrics.ts'
import type { Observers } from './console/observe/observers.ts'

export interface AppParts extends Omit<
  GraphqlRoute,
  'closedFor' | 'sourceOf' | 'answers' | 'observe' | 'rateLimit' | 'trace' | 'live'
> {
  readonly health: HealthChecks
  /** Absent: no other plugin is registered. */
  readonly answers?: ByteBudget
  /** Absent: connections end with the application. */
  readonly servers?: Servers
  readonly bodyLimitBytes: number
  /** How many processes share the clients; absent: only this one. */
  readonly workers?: number
  /** Whether the log records the end of each request, which costs every request some time. */
  readonly logsRequests: boolean
  /** Absent: none. */
  readonly rateLimit?: RateLimit | null
  /** Absent: no live queries. */
  readonly live?: LiveStreams | null
  /** The origins whose pages may read answers; absent: all. */
  readonly origins?: Origins
  /** The prefix of addresses; absent: none. */
  readonly pathPrefix?: string | null
  /** Absent: no observers. */
  readonly observers?: Omit<Observers, 'log' | 'requests' | 'live'>
  /** Null: this process serves no auth. */
  readonly auth: AdminParts | null
}

const noSchemas = (): never => {
  throw new Error('No route has a schema.')
}

/** Creates the application; it does not listen yet. */
export function buildApp(parts: AppParts): FastifyInstance {
  const { workers = 1 } = parts
  const answers = parts.answers ?? createByteBudget(answersSizeOf(workers))
  const render = parts.auth === null ? undefined : toClientError
  const servers = parts.servers ?? createServers(usualServerLimits(parts, answers), render)
  const { origins = null, pathPrefix = null } = parts
  const sourceOf = createSourceOf(parts.auth?.addressHeader ?? null)
  const app = fastify({
    logger: false,
    trustProxy: false,
    bodyLimit: parts.bodyLimitBytes,
    serverFactory: (handler) => makeServer(servers, handler),
    clientErrorHandler: (error, socket) => answerError(servers, error, socket),
    // While it closes, requests on open connections are answered, and the connection ends with the answer.
    return503OnClosing: false,
    requestIdHeader: false,
    ...rewriting(pathPrefix),
    // Every body is read by our own decoder: without these Fastify loads a validator and a serializer of JSON Schema.
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
    genReqId: requestIdOf,
    frameworkErrors: (_error, request, reply) =>
      void sendFailure(
        openToOrigins(reply, request.headers.origin, origins),
        new HttpFailure('REQUEST_MALFORMED'),
        renderPlainFailure,
      ),
  })
  // Nothing outside the areas reads a body.
  app.removeAllContentTypeParsers()
  meetRequests(app, origins)
  boundBodies(app, sourceOf, createByteBudget(bodiesSize(parts.bodyLimitBytes, workers)))
  sendInPieces(app)
  if (parts.logsRequests) logRequests(app, parts.log)
  const { request: observe = null, trace = null, http = null, metrics = null } = parts.observers ?? {}
  if (http !== null) observeRequests(app, http)
  answerFailures(app, parts.log, renderPlainFailure)
  app.setNotFoundHandler((_request, reply) => sendFailure(reply, new HttpFailure('NOT_FOUND'), renderPlainFailure))
  registerHealth(app, parts.health)
  registerGraphql(app, {
    ...parts,
    closedFor: closedAddresses(parts.auth, sourceOf),
    sourceOf,
    answers,
    observe,
    trace,
    rateLimit: parts.rateLimit ?? null,
    live: parts.live ?? null,
  })
  if (parts.auth !== null) {
    registerAuth(app, parts.auth)
    registerAdmin(app, parts.auth)
    registerOpenapi(app)
    registerDashboard(app)
    if (metrics !== null) registerMetrics(app, metrics, parts.auth)
  }
  return app
}

/**
 * A request that could not be parsed has no area. Its headers are mostly too long because of tokens, so the answer has
 * the form of auth.
 */
export const toClientError: RenderBare = (failure) => toErrorAnswer(failure, 'initial', '')

/** An address that auth has blocked is blocked for the whole project (spec/auth.md 10). */
function closedAddresses(auth: AuthParts | null, sourceOf: GraphqlRoute['sourceOf']): GraphqlRoute['closedFor'] {
  if (auth === null) return () => 0
  return (request) => auth.tools.throttle.closedFor(() => sourceOf(request))
}

/**
 * Records the arrival of a request, puts its id on every answer, and allows pages of every origin. A preflight is
 * answered immediately and needs no key, because browsers send none. One hook, because each costs every request.
 */
function meetRequests(app: FastifyInstance, origins: Origins): void {
  app.decorateRequest('arrivedAt', 0)
  app.addHook('onRequest', (request, reply, done) => {
    request.arrivedAt = performance.now()
    openToOrigins(reply.header('x-request-id', request.id), request.headers.origin, origins)
    if (request.method === 'OPTIONS') answerPreflight(request, reply)
    else done()
  })
}

/**
 * By the route pattern, whose number is bounded, not by the address. Recorded when the answer is passed to Node,
 * because onResponse costs a request more than the rest of the recording; that differs only for answers in pieces.
 */
function observeRequests(app: FastifyInstance, observe: (request: HttpObservation) => void): void {
  app.addHook('onSend', (request, reply, payload, done) => {
    if (payload instanceof Readable) reply.raw.once('finish', () => observe(observationOf(request, reply)))
    // A client that has disconnected gets no answer.
    else if (!reply.raw.destroyed) observe(observationOf(request, reply))
    done(null, payload)
  })
}

const observationOf = (request: FastifyRequest, reply: FastifyReply): HttpObservation => ({
  method: request.method,
  route: request.routeOptions.url ?? 'none',
  status: reply.statusCode,
  ms: performance.now() - request.arrivedAt,
})

/** For the owner: the amount and kind of requests is confidential. */
function registerMetrics(app: FastifyInstance, metrics: Metrics, parts: AdminParts): void {
  void app.register(async (scope) => {
    guardForOwner(scope, parts)
    scope.get('/metrics', async (_request, reply) => reply.type(metrics.contentType).send(await metrics.text()))
  })
}

const rewriting = (prefix: string | null) =>
  prefix === null ? {} : { rewriteUrl: ({ url = '/' }: IncomingMessage) => withoutPrefix(url, prefix) }

/** Addresses without the prefix serve requests to this process itself, such as probes. */
const withoutPrefix = (url: string, prefix: string): string =>
  url.startsWith(`${prefix}/`) ? url.slice(prefix.length) : url

/** Logs how each request ended, without the query string, which may contain data. */
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
