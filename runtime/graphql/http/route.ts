import type { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import {
  type Caller,
  type RequestContext,
  positionHeader,
  positionText,
  phasesOf,
  type Timeline,
} from '../../contract/execution.ts'
import { acceptJsonText, LongBody, sentInPieces } from '../../http/bodies.ts'
import { answerFailures, HttpFailure, failureTable, statusHeaders } from '../../http/boundary.ts'
import type { RateLimit } from '../../http/rate-limit.ts'
import { contextOf, watchClient } from '../../http/request-context.ts'
import { credentialsOf, type Authenticate, type Identified } from '../../identity/caller.ts'
import { ownerRole } from '../../identity/project-keys.ts'
import type { ByteBudget, Holding } from '../../lib/byte-budget.ts'
import type { Log } from '../../settings/log/events.ts'
import { operationNameOf, type ObserveRequest, type TracedRequest, type TraceRequest } from './observed.ts'
import { eventsOf, eventStreamType, openEventStream, type LiveStreams, eventStream } from './event-stream.ts'
import { readBodyQuickly, readQueryString } from './request.ts'
import { failureOf, httpErrors, throwUnidentified } from './credential-failures.ts'
import type { AnswerRequest } from '../live/streams/stream-types.ts'
import type { GraphqlRequest, GraphqlResponse, GraphqlOutcome } from '../protocol/request-and-answer.ts'
import { negotiate } from '../../http/accept.ts'

/** The current GraphQL service: while no schema is loaded, it answers that it is unavailable. */
export interface Serving {
  serve: AnswerRequest
}

export interface GraphqlRoute {
  readonly authenticate: Authenticate
  readonly serving: Serving
  /** The time limit of a request from arrival to commit, in milliseconds; 0: none. */
  readonly requestTimeoutMs: number
  readonly log: Log
  /** The seconds for which the address of a request remains blocked; 0: not blocked. Never rejects. */
  readonly closedFor: (request: FastifyRequest) => number | Promise<number>
  /** The key by which limits count the client of a request. */
  readonly sourceOf: (request: FastifyRequest) => string
  /** The memory that answers share. */
  readonly answers: ByteBudget
  /** Null: no limit. */
  readonly rateLimit: RateLimit | null
  /** Called for each admitted request; null: no tracing. */
  readonly trace: TraceRequest | null
  /** Null: no live queries. */
  readonly live: LiveStreams | null
  /** Called for each answered request; null: no observer. */
  readonly observe: ObserveRequest | null
}

const path = '/graphql/v1'
const otherMethods = ['PUT', 'PATCH', 'DELETE', 'TRACE', 'QUERY']

/** Registers POST and GET /graphql/v1. Fastify's request goes no further than this file. */
export function registerGraphql(app: FastifyInstance, route: GraphqlRoute): void {
  void app.register(async (scope) => {
    acceptJsonText(scope)
    answerFailures(scope, route.log, httpErrors)
    scope.post(path, (request, reply) => answer(request, reply, route, readPost))
    scope.get(path, (request, reply) => answer(request, reply, route, readGet))
    scope.route({ method: otherMethods, url: path, onRequest: refuseMethod, handler: refuseMethod })
  })
}

/** A body as Fastify accepts it. */
type Sent = string | Buffer | Readable

/** The body of the answer; status and headers are set on the reply. */
async function answer(
  request: FastifyRequest,
  reply: FastifyReply,
  route: GraphqlRoute,
  read: (request: FastifyRequest) => GraphqlRequest,
): Promise<Sent> {
  const wanted = acceptedMedia(request.method, request.headers.accept)
  const { media } = wanted
  reply.header('content-type', contentTypes[media]).header('vary', varying(reply)).header('cache-control', 'no-store')
  const seconds = await route.closedFor(request)
  const identified = await route.authenticate(credentialsOf(request.headers)).catch(throwUnidentified)
  if (seconds !== 0) refuseClosed(reply, seconds, identified)
  if (identified.kind !== 'caller') throw failureOf(identified)
  const { caller } = identified
  const asked = read(request)
  const isTimed = route.observe !== null
  const context = contextOf(request, caller, () => route.sourceOf(request), route.requestTimeoutMs, isTimed)
  if (route.rateLimit !== null) refuseTooMany(reply, route.rateLimit, context)
  const traced = route.trace === null ? null : begin(route.trace, request, asked, caller)
  if (traced !== null) context.label = traced.label
  const unwatch = watchClient(request, context)
  const { position } = context
  const answered = await route.serving.serve(asked, caller, context)
  unwatch()
  const opened = wanted.takesStream && answered.code === 'STREAM_REQUIRED' ? route.live : null
  const response = opened === null ? answered : await openStream(request, reply, opened, route, asked, caller, context)
  const { outcome } = response
  if (context.position !== position && context.position !== null)
    reply.header(positionHeader, positionText(context.position))
  const { timeline } = context
  if (route.observe !== null && timeline !== null) {
    const { id: requestId } = request
    const observed = { requestId, asked, role: caller.role, response, timeline, done: performance.now() }
    route.observe(observed)
    traced?.end(observed)
  }
  if (timeline !== null && caller.role === ownerRole) reply.header('server-timing', serverTiming(timeline))
  if (reply.sent) return ''
  reply.code(statusTable[outcome][media])
  reply.headers(outcomeHeaders[outcome][media])
  const isStream = wanted.isStream && (outcome === 'ok' || outcome === 'failed')
  if (isStream) reply.header('content-type', eventStreamType)
  const body = isStream ? eventsOf(response) : response.body
  return body instanceof LongBody ? sendLong(reply, body, route.answers.open(context.party)) : body
}

/** Resolves when the stream has begun and Fastify no longer owns the reply, or with the refusal. */
async function openStream(
  request: FastifyRequest,
  reply: FastifyReply,
  live: LiveStreams,
  { answers }: GraphqlRoute,
  asked: GraphqlRequest,
  caller: Caller,
  { party, kind }: RequestContext,
): Promise<GraphqlResponse> {
  const credentials = credentialsOf(request.headers)
  const owner = { caller, party, kind }
  const refusal = await openEventStream(request, reply, live, answers, { asked, owner, credentials })
  return refusal ?? { outcome: 'ok', body: '' }
}

function begin(
  trace: TraceRequest,
  { arrivedAt, headers: { traceparent } }: FastifyRequest,
  asked: GraphqlRequest,
  { role }: Caller,
): TracedRequest | null {
  const parent = typeof traceparent === 'string' ? traceparent : undefined
  return trace({ arrived: arrivedAt, operation: () => operationNameOf(asked), role, traceparent: parent })
}

/** For the owner only: durations may reveal rows that a caller cannot see. */
const serverTiming = (timeline: Timeline): string =>
  phasesOf(timeline)
    .map(([phase, begin, end]) => `${phase};dur=${(end - begin).toFixed(2)}`)
    .join(', ')

/** With a list of origins the answer also depends on the caller's origin. */
const varying = (reply: FastifyReply): string => (reply.hasHeader('vary') ? 'origin, accept' : 'accept')

/** Counts the body until its client has read it. */
function sendLong(reply: FastifyReply, body: LongBody, holding: Holding): Readable {
  if (!reply.raw.destroyed) {
    holding.force(body.bytes)
    reply.raw.once('close', holding.release)
  }
  return sentInPieces(reply, body)
}

/** The owner is admitted even if other clients of the address are blocked, as behind a proxy without configuration. */
function refuseClosed(reply: FastifyReply, seconds: number, identified: Identified): void {
  if (identified.kind === 'caller' && identified.caller.role === ownerRole) return
  reply.header('retry-after', String(seconds))
  throw new HttpFailure('ADDRESS_CLOSED')
}

/** The owner's key has no limit: it is used on servers. */
function refuseTooMany(reply: FastifyReply, limit: RateLimit, { party, kind }: RequestContext): void {
  const waitMs = kind === 'service' ? 0 : limit.take(party)
  if (waitMs === 0) return
  reply.header('retry-after', String(Math.ceil(waitMs / 1_000)))
  throw new HttpFailure('RATE_LIMITED')
}

/** A POST without a body has no text. */
function readPost({ body }: FastifyRequest): GraphqlRequest {
  return readBodyQuickly(typeof body === 'string' ? body : '')
}

function readGet({ query }: FastifyRequest): GraphqlRequest {
  return readQueryString(query as Readonly<Record<string, unknown>>)
}

async function refuseMethod(_request: FastifyRequest, reply: FastifyReply): Promise<never> {
  reply.header('allow', 'GET, HEAD, POST, OPTIONS')
  throw new HttpFailure('METHOD_NOT_ALLOWED')
}

/** The answer while no schema is loaded. */
export const unavailableResponse: GraphqlResponse = {
  outcome: 'unavailable',
  code: 'UNAVAILABLE',
  body: httpErrors('UNAVAILABLE', failureTable.UNAVAILABLE.message),
}

/** The media types of answers, and their status codes. */

/** The default first (GraphQL over HTTP, section Legacy watershed). */
const jsonTypes = ['application/json', 'application/graphql-response+json'] as const
type MediaType = (typeof jsonTypes)[number]

/** The accepted media type: an answer of this type, or events, whose refusals have this type. */
interface Wanted {
  readonly media: MediaType
  readonly isStream: boolean
  /** Whether it accepts a stream if there is no other answer. */
  readonly takesStream: boolean
}

export const contentTypes: Readonly<Record<MediaType, string>> = {
  'application/json': 'application/json; charset=utf-8',
  'application/graphql-response+json': 'application/graphql-response+json; charset=utf-8',
}

/** Status of each outcome by the media type of the answer (spec/graphql.md, decision 6). */
export const statusTable: Readonly<Record<GraphqlOutcome, Readonly<Record<MediaType, number>>>> = {
  ok: { 'application/json': 200, 'application/graphql-response+json': 200 },
  invalid: { 'application/json': 200, 'application/graphql-response+json': 400 },
  failed: { 'application/json': 200, 'application/graphql-response+json': 200 },
  unauthorized: { 'application/json': 401, 'application/graphql-response+json': 401 },
  'method-not-allowed': { 'application/json': 405, 'application/graphql-response+json': 405 },
  unavailable: { 'application/json': 503, 'application/graphql-response+json': 503 },
  overloaded: { 'application/json': 503, 'application/graphql-response+json': 503 },
}

type Headers = Readonly<Record<string, string>>

const headersOf = (outcome: GraphqlOutcome, status: number): Headers => ({
  ...statusHeaders(status),
  ...(outcome === 'method-not-allowed' && { allow: 'POST' }),
})

/** Headers that belong to the status of an outcome. */
export const outcomeHeaders = Object.fromEntries(
  Object.entries(statusTable).map(([outcome, statuses]) => [
    outcome,
    Object.fromEntries(
      Object.entries(statuses).map(([media, status]) => [media, headersOf(outcome as GraphqlOutcome, status)]),
    ),
  ]),
) as Readonly<Record<GraphqlOutcome, Readonly<Record<MediaType, Headers>>>>

const usual: Wanted = { media: jsonTypes[0], isStream: false, takesStream: false }

/** @throws HttpFailure if the client accepts none of them */
export function acceptedMedia(method: string, accept: string | undefined): Wanted {
  if (accept === undefined || accept === '*/*') return usual
  // Only on explicit request: `text/*` does not mean event streams.
  const takesStream = method !== 'HEAD' && accept?.includes(eventStream) === true
  const media = negotiate(accept, takesStream ? [...jsonTypes, eventStream] : jsonTypes)
  if (media === null) throw new HttpFailure('NOT_ACCEPTABLE')
  if (media !== eventStream) return { media, isStream: false, takesStream }
  return { media: 'application/graphql-response+json', isStream: true, takesStream }
}
