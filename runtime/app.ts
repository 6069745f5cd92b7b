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
import type { GraphqlRoute } from './graphql/http/route.ts'
import { registerGraphql } from './graphql/http/route.ts'
import { answerFailures, renderPlainFailure, sendFailure } from './http/boundary.ts'
import type { RenderBare } from './http/bare-answer.ts'
import { createSourceOf } from './http/client-address.ts'
import { answerPreflight, openToOrigins, type Origins } from './http/cors.ts'
import { HttpFailure } from './http/failures.ts'
import { boundBodies } from './http/bodies.ts'
import { registerHealth } from './http/health.ts'
import type { HealthChecks } from './http/health.ts'
import { sendInPieces } from './http/long-body.ts'
import { answersSizeOf, bodiesSize, usualServerLimits } from './http/limits.ts'
import type { RateLimit } from './http/rate-limit.ts'
import { requestIdOf } from './http/request-context.ts'
import { createServers, type Servers } from './http/servers.ts'
import { createByteBudget, type ByteBudget } from './lib/byte-budget.ts'
import type { Log } from './settings/log/events.ts'
import type { HttpObservation, Metrics } from './console/observe/metrics.ts'
import type { Observers } from './console/observe/observers.ts'

export interface AppParts extends Omit<
  GraphqlRoute,
  'closedFor' | 'sourceOf' | 'answers' | 'observe' | 'rateLimit' | 'trace' | 'live'
> {
  readonly health: HealthChecks
  /** Left out: no other plugin is registered. */
  readonly answers?: ByteBudget
  /** Left out: connections end when the application does. */
  readonly servers?: Servers
  readonly bodyLimitBytes: number
  /** How many processes share the clients; left out: this one has all. */
  readonly workers?: number
  /** Whether the log records how each request ended, which costs every request some time. */
  readonly logsRequests: boolean
  /** Left out: none. */
  readonly rateLimit?: RateLimit | null
  /** Left out: nothing can be watched. */
  readonly live?: LiveStreams | null
  /** Of which pages may read answers; left out: those of every origin. */
  readonly origins?: Origins
  /** What addresses begin with; left out: nothing. */
  readonly pathPrefix?: string | null
  /** Left out: nobody watches. */
  readonly observers?: Omit<Observers, 'log' | 'requests' | 'live'>
  /** Null: this process serves no auth. */
  readonly auth: AdminParts | null
}

const noSchemas = (): never => {
  throw new Error('No route has a schema.')
}

/** Makes the application; it listens nowhere yet. */
export function buildApp(parts: AppParts): FastifyInstance {
  const { workers = 1 } = parts
  const answers = parts.answers ?? createByteBudget(answersSizeOf(workers))
  const render = parts.auth === null ? undefined : toClientError
  const { serverFactory, clientErrorHandler } =
    parts.servers ?? createServers(usualServerLimits(parts, answers), render)
  const { origins = null, pathPrefix = null } = parts
  const sourceOf = createSourceOf(parts.auth?.addressHeader ?? null)
  const app = fastify({
    logger: false,
    trustProxy: false,
    bodyLimit: parts.bodyLimitBytes,
    serverFactory,
    clientErrorHandler,
    // While it closes, what still arrives on an open connection is answered as ever, and the connection ends with it.
    return503OnClosing: false,
    requestIdHeader: false,
    ...rewriting(pathPrefix),
    // Every body is read by a decoder of ours: without these Fastify loads a validator and a serializer of JSON Schema.
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
 * A request that could not be parsed belongs to no area. Its headers are mostly too long because of tokens, so it is
 * answered in the form of auth.
 */
export const toClientError: RenderBare = (failure) => toErrorAnswer(failure, 'initial', '')

/** An address that auth has closed is closed to the whole project (spec/auth.md 10). */
function closedAddresses(auth: AuthParts | null, sourceOf: GraphqlRoute['sourceOf']): GraphqlRoute['closedFor'] {
  if (auth === null) return () => 0
  return (request) => auth.tools.throttle.closedFor(() => sourceOf(request))
}

/**
 * Notes when a request came, puts its id on every answer, and lets pages of every origin call. A preflight is answered at once and needs
 * no key, since browsers send none. One hook, since each of them costs every request.
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
 * By the pattern of the address, whose number is bounded; not by the address. Noted as the answer is handed to Node, since to hear of
 * its end (onResponse) costs a request more than all that is noted; only for one that is sent piece by piece it makes a difference.
 */
function observeRequests(app: FastifyInstance, observe: (request: HttpObservation) => void): void {
  app.addHook('onSend', (request, reply, payload, done) => {
    if (payload instanceof Readable) reply.raw.once('finish', () => observe(observationOf(request, reply)))
    // A client that has gone is not answered.
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

/** For the owner: how much is asked, and for what, is nobody else's business. */
function registerMetrics(app: FastifyInstance, metrics: Metrics, parts: AdminParts): void {
  void app.register(async (scope) => {
    guardForOwner(scope, parts)
    scope.get('/metrics', async (_request, reply) => reply.type(metrics.contentType).send(await metrics.text()))
  })
}

const rewriting = (prefix: string | null) =>
  prefix === null ? {} : { rewriteUrl: ({ url = '/' }: IncomingMessage) => withoutPrefix(url, prefix) }

/** Addresses without the prefix serve what asks this process itself, such as probes. */
const withoutPrefix = (url: string, prefix: string): string =>
  url.startsWith(`${prefix}/`) ? url.slice(prefix.length) : url

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
