import type { RequestListener } from 'node:http'
import { Readable } from 'node:stream'
import fastify from 'fastify'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { registerOpenapi } from './console/admin/openapi.ts'
import { guardForOwner, registerAdmin } from './console/admin/register.ts'
import type { AdminParts } from './console/admin/call.ts'
import { toErrorAnswer } from './auth/http/boundary.ts'
import { registerAuth } from './auth/http/register.ts'
import type { DashboardLink } from './console/opening.ts'
import { registerDocs } from './console/docs.ts'
import { registerDashboard } from './console/register.ts'
import type { LiveStreams } from './graphql/http/event-stream.ts'
import { createGraphqlFront, type Asker, type GraphqlRoute } from './graphql/http/route.ts'
import { answerFailures, renderPlainFailure, sendFailure, type RenderBare, HttpFailure } from './http/boundary.ts'
import type { HttpCall } from './http/call.ts'
import { clientAddress, createSourceOf, requestIdOf } from './http/request-context.ts'
import { inPlaceOf } from './http/in-place-of.ts'
import { originHeaders, type Origins, preflightHeaders } from './http/cors.ts'
import { boundBodies, sendInPieces } from './http/bodies.ts'
import { registerHealth } from './http/health.ts'
import type { HealthChecks } from './http/health.ts'
import { answersSizeOf, bodiesSize, usualServerLimits } from './http/limits.ts'
import type { RateLimit } from './http/rate-limit.ts'
import { answerError, createServers, makeServer, type Servers } from './http/servers.ts'
import { createByteBudget, type ByteBudget } from './lib/byte-budget.ts'
import type { Log, LogEvent } from './settings/log/events.ts'
import type { HttpObservation, Metrics } from './console/observe/metrics.ts'
import type { Observers } from './console/observe/observers.ts'

export interface AppParts extends Pick<
  GraphqlRoute,
  'authenticate' | 'serving' | 'requestTimeoutMs' | 'log' | 'bodyLimitBytes'
> {
  readonly health: HealthChecks
  /** Absent: no other plugin is registered. */
  readonly answers?: ByteBudget
  /** The memory that incomplete bodies share; absent: nothing else uses it. */
  readonly bodies?: ByteBudget
  /** Absent: connections end with the application. */
  readonly servers?: Servers
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
  /** Whether the pages of docs/ are served. */
  readonly docs?: boolean
  /** The link that opens the dashboard signed in; absent: none. */
  readonly opening?: DashboardLink | null
  /** Null: this process serves no auth. */
  readonly auth: AdminParts | null
  /** GraphQL with plans, for the owner's key; absent: none. */
  readonly explaining?: Pick<GraphqlRoute, 'authenticate' | 'serving'>
}

const noSchemas = (): never => {
  throw new Error('No route has a schema.')
}

export interface App {
  readonly fastify: FastifyInstance
  /** Answers the requests of a server of the caller's. */
  readonly handle: RequestListener
}

/** Creates the application; it does not listen yet. */
export function buildApp(parts: AppParts): App {
  const { workers = 1 } = parts
  const answers = parts.answers ?? createByteBudget(answersSizeOf(workers))
  const render = parts.auth === null ? undefined : toClientError
  const servers = parts.servers ?? createServers(usualServerLimits(parts, answers), render)
  const { origins = null, pathPrefix = null } = parts
  const addressHeader = parts.auth?.addressHeader ?? null
  const sourceOf = createSourceOf(addressHeader)
  const bodies = parts.bodies ?? createByteBudget(bodiesSize(parts.bodyLimitBytes, workers))
  const { request: observe = null, trace = null, http = null, metrics = null } = parts.observers ?? {}
  const front: GraphqlRoute = {
    ...parts,
    // An address that auth has blocked is blocked for the whole project (spec/auth.md 10).
    closedFor: parts.auth?.tools.throttle.closedFor ?? (() => 0),
    sourceOf,
    bodies,
    answers,
    observe,
    observeHttp: http && ((call, status) => http(observationOf(call, status))),
    ended: parts.logsRequests ? (call, asker) => parts.log(requestEvent(call, addressHeader, asker)) : null,
    trace,
    rateLimit: parts.rateLimit ?? null,
    live: parts.live ?? null,
    origins,
  }
  const { explaining } = parts
  const fronts: Fronts = {
    graphql: createGraphqlFront(front),
    explaining: explaining && createGraphqlFront({ ...front, ...explaining, live: null }),
  }
  const app = fastify({
    logger: false,
    trustProxy: false,
    bodyLimit: parts.bodyLimitBytes,
    serverFactory: (handler) => makeServer(servers, byPath(fronts, handler, pathPrefix)),
    clientErrorHandler: (error, socket) => answerError(servers, error, socket),
    // While it closes, requests on open connections are answered, and the connection ends with the answer.
    return503OnClosing: false,
    requestIdHeader: false,
    // Every body is read by our own decoder: without these Fastify loads a validator and a serializer of JSON Schema.
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
    genReqId: requestIdOf,
    frameworkErrors: (_error, request, reply) =>
      void sendFailure(
        openToOrigins(reply, request, origins),
        new HttpFailure('REQUEST_MALFORMED'),
        renderPlainFailure,
      ),
  })
  // Nothing outside the areas reads a body.
  app.removeAllContentTypeParsers()
  meetRequests(app, origins)
  boundBodies(app, sourceOf, bodies)
  sendInPieces(app)
  if (parts.logsRequests) logRequests(app, parts.log, addressHeader)
  if (http !== null) observeRequests(app, http)
  answerFailures(app, parts.log, renderPlainFailure)
  app.setNotFoundHandler(({ url }, reply) =>
    sendFailure(reply, new HttpFailure('NOT_FOUND', inPlaceOf(url)), renderPlainFailure),
  )
  registerHealth(app, parts.health)
  if (parts.docs === true) registerDocs(app)
  if (parts.auth !== null) {
    registerAuth(app, parts.auth)
    registerAdmin(app, parts.auth)
    registerOpenapi(app)
    registerDashboard(app, parts.opening)
    if (metrics !== null) registerMetrics(app, metrics, parts.auth)
  }
  return { fastify: app, handle: byPath(fronts, (request, response) => app.routing(request, response), pathPrefix) }
}

const graphqlPath = '/graphql/v1'
const explainingPath = '/admin/v1/graphql'

interface Fronts {
  readonly graphql: RequestListener
  readonly explaining: RequestListener | undefined
}

/** GraphQL is answered without Fastify, which answers everything else. */
const byPath =
  ({ graphql, explaining }: Fronts, others: RequestListener, prefix: string | null): RequestListener =>
  (request, response) => {
    const { url = '/' } = request
    if (prefix !== null) request.url = withoutPrefix(url, prefix)
    if (request.url === graphqlPath || isGraphql(request.url ?? '/')) graphql(request, response)
    else if (request.url === explainingPath && explaining !== undefined) explaining(request, response)
    else others(request, response)
  }

/** Of a request's target in its origin or absolute form (RFC 9112 section 3.2). */
function isGraphql(url: string): boolean {
  if (url.startsWith(graphqlPath)) return url.length === graphqlPath.length || url[graphqlPath.length] === '?'
  return !url.startsWith('/') && URL.canParse(url) && new URL(url).pathname === graphqlPath
}

/**
 * A request that could not be parsed has no area. Its headers are mostly too long because of tokens, so the answer has
 * the form of auth.
 */
export const toClientError: RenderBare = (failure) => toErrorAnswer(failure, 'initial', '')

declare module 'fastify' {
  interface FastifyRequest {
    /** When its headers had arrived, on the monotonic clock in milliseconds. */
    arrivedAt: number
  }
}

/**
 * Records the arrival of a request, puts its id on every answer, and allows pages of every origin. A preflight is
 * answered immediately and needs no key, because browsers send none. One hook, because each costs every request.
 */
function meetRequests(app: FastifyInstance, origins: Origins): void {
  app.decorateRequest('arrivedAt', 0)
  app.addHook('onRequest', (request, reply, done) => {
    request.arrivedAt = performance.now()
    openToOrigins(reply.header('x-request-id', request.id), request, origins)
    if (request.method === 'OPTIONS') reply.code(204).headers(preflightHeaders(request.raw)).send()
    else done()
  })
}

/**
 * By the route pattern, whose number is bounded, not by the address. Recorded when the answer is passed to Node,
 * because onResponse costs a request more than the rest of the recording; that differs only for answers in pieces.
 */
function observeRequests(app: FastifyInstance, observe: (request: HttpObservation) => void): void {
  app.addHook('onSend', (request, reply, payload, done) => {
    const {
      method,
      arrivedAt,
      routeOptions: { url = 'none' },
    } = request
    const sent = (): void =>
      observe({ method, route: url, status: reply.statusCode, ms: performance.now() - arrivedAt })
    if (payload instanceof Readable) reply.raw.once('finish', sent)
    // A client that has disconnected gets no answer.
    else if (!reply.raw.destroyed) sent()
    done(null, payload)
  })
}

function openToOrigins(reply: FastifyReply, { headers }: FastifyRequest, origins: Origins): FastifyReply {
  if (origins !== null) reply.header('vary', 'origin')
  const list = originHeaders(headers.origin, origins)
  for (let index = 0; index < list.length; index += 2) reply.header(list[index] ?? '', list[index + 1])
  return reply
}

const observationOf = ({ request: { method = '' }, arrivedAt }: HttpCall, status: number): HttpObservation => ({
  method,
  route: graphqlPath,
  status,
  ms: performance.now() - arrivedAt,
})

/** For the owner: the amount and kind of requests is confidential. */
function registerMetrics(app: FastifyInstance, metrics: Metrics, parts: AdminParts): void {
  void app.register(async (scope) => {
    guardForOwner(scope, parts)
    scope.get('/metrics', async (_request, reply) => reply.type(metrics.contentType).send(await metrics.text()))
  })
}

/** Addresses without the prefix serve requests to this process itself, such as probes. */
const withoutPrefix = (url: string, prefix: string): string =>
  url.startsWith(`${prefix}/`) ? url.slice(prefix.length) : url

/** Logs how each request ended, without the query string, which may contain data. */
function logRequests(app: FastifyInstance, log: Log, addressHeader: string | null): void {
  app.addHook('onResponse', ({ id, raw: request, arrivedAt }, { raw: response }, done) => {
    log(requestEvent({ id, request, response, arrivedAt }, addressHeader))
    done()
  })
}

const requestEvent = (
  { id, request, response, arrivedAt }: Ended,
  addressHeader: string | null,
  asker?: Asker,
): LogEvent => ({
  kind: 'request',
  requestId: id,
  method: request.method ?? '',
  path: (request.url ?? '').split('?', 1)[0] ?? '',
  status: response.statusCode,
  ms: Math.round((performance.now() - arrivedAt) * 10) / 10,
  address: clientAddress(request, addressHeader),
  ...asker,
})

type Ended = Pick<HttpCall, 'id' | 'request' | 'response' | 'arrivedAt'>
