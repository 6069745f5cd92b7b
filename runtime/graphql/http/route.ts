import type { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Caller, RequestContext } from '../../contract/execution.ts'
import { positionHeader, positionText } from '../../contract/position.ts'
import { phasesOf, type Timeline } from '../../contract/timeline.ts'
import { negotiate } from '../../http/accept.ts'
import { acceptJsonText } from '../../http/body.ts'
import { answerFailures } from '../../http/boundary.ts'
import { HttpFailure, failureTable, retryAfterSeconds } from '../../http/failures.ts'
import type { RenderFailure } from '../../http/boundary.ts'
import { LongBody, sentInPieces } from '../../http/long-body.ts'
import type { RateLimit } from '../../http/rate-limit.ts'
import { contextOf, watchClient } from '../../http/request-context.ts'
import type { Authenticate, Credentials, Identified, CredentialRefusal } from '../../identity/caller.ts'
import { IssuerSilent } from '../../identity/issuers.ts'
import type { TokenFault } from '../../identity/jwt.ts'
import { ownerRole } from '../../identity/keys.ts'
import type { ByteBudget, Holding } from '../../lib/byte-budget.ts'
import { unreachable } from '../../lib/unreachable.ts'
import type { Log } from '../../log/events.ts'
import {
  documentHash,
  operationNameOf,
  type ObservedRequest,
  type ObserveRequest,
  type TracedRequest,
  type TraceRequest,
} from './observed.ts'
import { readBodyQuickly, readQueryString } from './request.ts'
import type { GraphqlOutcome, GraphqlRequest, GraphqlResponse } from '../protocol/types.ts'

export interface GraphqlRoute {
  readonly authenticate: Authenticate
  readonly serve: (
    request: GraphqlRequest,
    caller: Caller,
    context: RequestContext,
  ) => GraphqlResponse | Promise<GraphqlResponse>
  /** What a request may take from its arrival to its commit, in milliseconds; 0: any time. */
  readonly requestTimeoutMs: number
  readonly log: Log
  /** Seconds for which the address that a request comes from is refused yet; 0: it is not. Never rejects. */
  readonly closedFor: (request: FastifyRequest) => number | Promise<number>
  /** What limits count the client of a request by. */
  readonly sourceOf: (request: FastifyRequest) => string
  /** The memory that answers share. */
  readonly answers: ByteBudget
  /** Null: everybody may ask as often as they like. */
  readonly rateLimit: RateLimit | null
  /** Asked of each request that is admitted; null: none is traced. */
  readonly trace: TraceRequest | null
  /** Told of each request that was answered; null: nobody watches. */
  readonly observe: ObserveRequest | null
}

const path = '/graphql/v1'
const otherMethods = ['PUT', 'PATCH', 'DELETE', 'TRACE', 'QUERY']

/** The default first (GraphQL over HTTP, section Legacy watershed). */
const mediaTypes = ['application/json', 'application/graphql-response+json'] as const
type MediaType = (typeof mediaTypes)[number]

const contentTypes: Readonly<Record<MediaType, string>> = {
  'application/json': 'application/json; charset=utf-8',
  'application/graphql-response+json': 'application/graphql-response+json; charset=utf-8',
}

/** Status of each outcome by the media type of the answer (spec/graphql.md, decision 6). */
const statusTable: Readonly<Record<GraphqlOutcome, Readonly<Record<MediaType, number>>>> = {
  ok: { 'application/json': 200, 'application/graphql-response+json': 200 },
  invalid: { 'application/json': 200, 'application/graphql-response+json': 400 },
  failed: { 'application/json': 200, 'application/graphql-response+json': 200 },
  unauthorized: { 'application/json': 401, 'application/graphql-response+json': 401 },
  'method-not-allowed': { 'application/json': 405, 'application/graphql-response+json': 405 },
  unavailable: { 'application/json': 503, 'application/graphql-response+json': 503 },
  overloaded: { 'application/json': 503, 'application/graphql-response+json': 503 },
}

/** Registers POST and GET /graphql/v1. Fastify's request goes no further than this file. */
export function registerGraphql(app: FastifyInstance, route: GraphqlRoute): void {
  void app.register(async (scope) => {
    acceptJsonText(scope)
    answerFailures(scope, route.log, renderFailure)
    scope.post(path, (request, reply) => answer(request, reply, route, () => readBodyQuickly(bodyText(request))))
    scope.get(path, (request, reply) => answer(request, reply, route, () => readQueryString(queryString(request))))
    scope.route({ method: otherMethods, url: path, onRequest: refuseMethod, handler: refuseMethod })
  })
}

/** A body as Fastify takes it. */
type Sent = string | Buffer | Readable

/** The body of the answer; what else belongs to it is said to the reply. */
async function answer(
  request: FastifyRequest,
  reply: FastifyReply,
  route: GraphqlRoute,
  read: () => GraphqlRequest,
): Promise<Sent> {
  const media = acceptedMedia(request)
  reply.header('content-type', contentTypes[media]).header('vary', varying(reply)).header('cache-control', 'no-store')
  const seconds = await route.closedFor(request)
  const identified = await identify(route, request)
  refuseClosed(reply, seconds, identified)
  const caller = callerOf(identified)
  const asked = read()
  const isTimed = route.observe !== null
  const context = contextOf(request, caller, () => route.sourceOf(request), route.requestTimeoutMs, isTimed)
  refuseTooMany(reply, route.rateLimit, context)
  const traced = route.trace === null ? null : begin(route.trace, request, asked, caller)
  if (traced !== null) context.label = traced.label
  const unwatch = watchClient(request, context)
  const { position } = context
  const response = await route.serve(asked, caller, context)
  unwatch()
  const { outcome, body } = response
  if (context.position !== position && context.position !== null)
    reply.header(positionHeader, positionText(context.position))
  if (route.observe !== null && context.timeline !== null)
    tell(route.observe, traced, observed(request, asked, caller, context.timeline, response))
  if (context.timeline !== null && caller.role === ownerRole)
    reply.header('server-timing', serverTiming(context.timeline))
  reply.code(statusTable[outcome][media])
  addOutcomeHeaders(reply, outcome)
  return body instanceof LongBody ? sendLong(reply, body, route.answers.open(context.party)) : body
}

const observed = (
  request: FastifyRequest,
  asked: GraphqlRequest,
  { role }: Caller,
  timeline: Timeline,
  { outcome, code }: GraphqlResponse,
): ObservedRequest => ({
  requestId: request.id,
  operation: () => operationNameOf(asked),
  role,
  outcome,
  code: code ?? null,
  timeline,
  done: performance.now(),
  hash: () => documentHash(asked),
  document: () => asked.query,
})

function begin(
  trace: TraceRequest,
  { arrivedAt, headers: { traceparent } }: FastifyRequest,
  asked: GraphqlRequest,
  { role }: Caller,
): TracedRequest | null {
  const parent = typeof traceparent === 'string' ? traceparent : undefined
  return trace({ arrived: arrivedAt, operation: operationNameOf(asked), role, traceparent: parent })
}

function tell(observe: ObserveRequest, traced: TracedRequest | null, request: ObservedRequest): void {
  observe(request)
  traced?.end(request)
}

/** For the owner alone: how long something takes may tell others of rows that they do not see. */
const serverTiming = (timeline: Timeline): string =>
  phasesOf(timeline)
    .map(([phase, begin, end]) => `${phase};dur=${(end - begin).toFixed(2)}`)
    .join(', ')

/** With a list of origins the answer depends on who asks, too. */
const varying = (reply: FastifyReply): string => (reply.hasHeader('vary') ? 'origin, accept' : 'accept')

/** Counts the body for as long as its reader takes to read it. */
function sendLong(reply: FastifyReply, body: LongBody, holding: Holding): Readable {
  if (!reply.raw.destroyed) {
    holding.force(body.bytes)
    reply.raw.once('close', holding.release)
  }
  return sentInPieces(reply, body)
}

/** The owner is admitted regardless of strangers at the same address, as behind a proxy that is not configured. */
function refuseClosed(reply: FastifyReply, seconds: number, identified: Identified): void {
  if (seconds === 0 || (identified.kind === 'caller' && identified.caller.role === ownerRole)) return
  reply.header('retry-after', String(seconds))
  throw new HttpFailure('ADDRESS_CLOSED')
}

/** Of a token whose issuer is silent nothing is known, not that it is wrong. */
const identify = ({ authenticate }: GraphqlRoute, request: FastifyRequest): Promise<Identified> =>
  authenticate(credentialsOf(request)).catch((error: unknown) => {
    throw error instanceof IssuerSilent ? new HttpFailure('UNAVAILABLE') : error
  })

/** The owner's key has no limit: it is on servers. */
function refuseTooMany(reply: FastifyReply, limit: RateLimit | null, { party, kind }: RequestContext): void {
  const waitMs = limit === null || kind === 'service' ? 0 : limit.take(party)
  if (waitMs === 0) return
  reply.header('retry-after', String(Math.ceil(waitMs / 1_000)))
  throw new HttpFailure('RATE_LIMITED')
}

function acceptedMedia(request: FastifyRequest): MediaType {
  const media = negotiate(request.headers.accept, mediaTypes)
  if (media === null) throw new HttpFailure('NOT_ACCEPTABLE')
  return media
}

function credentialsOf({ headers: { apikey, authorization } }: FastifyRequest): Credentials {
  return { apikey: typeof apikey === 'string' ? apikey : undefined, authorization }
}

function callerOf(identified: Identified): Caller {
  if (identified.kind === 'caller') return identified.caller
  throw failureOf(identified)
}

/** What each fault of a bearer token is called towards its sender. */
const faultSentences: Readonly<Record<TokenFault, string>> = {
  expired: 'Invalid token: it has expired',
  early: 'Invalid token: it is not valid yet',
  signature: 'Invalid token: its signature does not match',
  malformed: 'Invalid token: it is malformed',
}

function failureOf(refusal: CredentialRefusal): HttpFailure {
  switch (refusal.kind) {
    case 'key-missing':
      return new HttpFailure('KEY_MISSING')
    case 'key-invalid':
      return new HttpFailure('KEY_INVALID')
    case 'token-invalid':
      return new HttpFailure('TOKEN_INVALID', faultSentences[refusal.fault])
    default:
      return unreachable(refusal)
  }
}

function addOutcomeHeaders(reply: FastifyReply, outcome: GraphqlOutcome): void {
  if (outcome === 'unauthorized') reply.header('www-authenticate', 'Bearer')
  if (outcome === 'method-not-allowed') reply.header('allow', 'POST')
  if (outcome === 'unavailable' || outcome === 'overloaded') reply.header('retry-after', retryAfterSeconds)
}

/** A POST without any body has no text. */
function bodyText(request: FastifyRequest): string {
  return typeof request.body === 'string' ? request.body : ''
}

function queryString(request: FastifyRequest): Readonly<Record<string, unknown>> {
  return request.query as Readonly<Record<string, unknown>>
}

async function refuseMethod(_request: FastifyRequest, reply: FastifyReply): Promise<never> {
  reply.header('allow', 'GET, HEAD, POST, OPTIONS')
  throw new HttpFailure('METHOD_NOT_ALLOWED')
}

const renderFailure: RenderFailure = (code, message) =>
  JSON.stringify({ data: null, errors: [{ message, extensions: { code } }] })

/** What is answered while no schema is loaded yet. */
export const unavailableResponse: GraphqlResponse = {
  outcome: 'unavailable',
  code: 'UNAVAILABLE',
  body: renderFailure('UNAVAILABLE', failureTable.UNAVAILABLE.message),
}
