import type { RequestListener } from 'node:http'
import {
  type Caller,
  type RequestContext,
  positionHeader,
  positionText,
  phasesOf,
  type Timeline,
} from '../../contract/execution.ts'
import { type BodyLimits, LongBody, readJsonText, receiveBody } from '../../http/bodies.ts'
import { HttpFailure, failureTable, recognise, statusHeaders } from '../../http/boundary.ts'
import { type HttpCall, newCall, sendAnswer, sendPreflight } from '../../http/call.ts'
import type { Origins } from '../../http/cors.ts'
import type { RateLimit } from '../../http/rate-limit.ts'
import { contextOf, watchClient } from '../../http/request-context.ts'
import { credentialsOf, type Authenticate, type Identified } from '../../identity/caller.ts'
import { ownerRole } from '../../identity/project-keys.ts'
import type { ByteBudget, Holding } from '../../lib/byte-budget.ts'
import type { Log } from '../../settings/log/events.ts'
import { operationNameOf, type ObserveRequest, type TracedRequest, type TraceRequest } from './observed.ts'
import { eventsOf, eventStreamType, openEventStream, type LiveStreams, eventStream } from './event-stream.ts'
import { readBodyQuickly, readQueryString } from './request.ts'
import { failureOf, httpErrors, verified } from './credential-failures.ts'
import type { AnswerRequest } from '../live/streams/stream-types.ts'
import type { GraphqlRequest, GraphqlResponse, GraphqlOutcome } from '../protocol/request-and-answer.ts'
import { negotiate } from '../../http/accept.ts'

/** The current GraphQL service: while no schema is loaded, it answers that it is unavailable. */
export interface Serving {
  serve: AnswerRequest
}

export interface GraphqlRoute extends BodyLimits {
  readonly authenticate: Authenticate
  readonly serving: Serving
  /** The time limit of a request from arrival to commit, in milliseconds; 0: none. */
  readonly requestTimeoutMs: number
  readonly log: Log
  /** The seconds for which the address of a request remains blocked; 0: not blocked. Never rejects. */
  readonly closedFor: (address: () => string) => number | Promise<number>
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
  /** Called for each answer, of GraphQL or not; null: no observer. */
  readonly observeHttp: ((call: HttpCall, status: number) => void) | null
  /** Called when an answer or stream ends, with what is known of an admitted request; null: no log of requests. */
  readonly ended: ((call: HttpCall, admitted?: Asker) => void) | null
  /** The origins whose pages may read answers; null: all. */
  readonly origins: Origins
}

/** The caller of a request, and its name. */
export interface Asker {
  readonly role: string
  readonly operation: string
}

interface Admitted {
  readonly call: HttpCall
  readonly caller: Caller
  readonly asked: GraphqlRequest
  readonly context: RequestContext
  traced: TracedRequest | null
}

/** The stages that settings ask for, in order. */
interface Stages {
  /** Before a request is served. */
  readonly admission: readonly ((admitted: Admitted) => void)[]
  /** Before its answer is sent. */
  readonly completion: readonly ((admitted: Admitted, response: GraphqlResponse) => void)[]
}

/**
 * The front of POST and GET /graphql/v1: accept, identify, limit, serve and respond, on Node's own objects
 * (runtime/http/call.ts).
 */
export function createGraphqlFront(route: GraphqlRoute): RequestListener {
  const { rateLimit, trace, observe, ended } = route
  const askers = new WeakMap<HttpCall, Asker>()
  const noteAsker = ({ call, asked, caller: { role } }: Admitted): void =>
    void askers.set(call, { role, operation: operationNameOf(asked) })
  const stages: Stages = {
    admission: [
      ...(ended === null ? [] : [noteAsker]),
      ...(rateLimit === null ? [] : [(admitted: Admitted) => refuseTooMany(admitted, rateLimit)]),
      ...(trace === null ? [] : [(admitted: Admitted) => beginTrace(admitted, trace)]),
    ],
    completion: observe === null ? [] : [observing(observe)],
  }
  return (request, response) => {
    const call = newCall(request, response, route)
    if (ended !== null) response.once('finish', () => ended(call, askers.get(call)))
    if (request.method === 'OPTIONS') sendPreflight(call)
    else void answer(call, route, stages)
  }
}

/** Never rejects. */
async function answer(call: HttpCall, route: GraphqlRoute, stages: Stages): Promise<void> {
  try {
    await respond(call, route, stages)
  } catch (error) {
    const { code, message } = recognise(error, call.id, route.log)
    const { status } = failureTable[code]
    call.headers.push(...Object.entries(statusHeaders(status)).flat())
    sendAnswer(call, status, contentTypes['application/json'], httpErrors(code, message))
  }
}

async function respond(call: HttpCall, route: GraphqlRoute, stages: Stages): Promise<void> {
  const { request, headers } = call
  const sent = await receive(call, route)
  const wanted = acceptedMedia(request.method, request.headers.accept)
  const { media } = wanted
  headers.push('vary', route.origins === null ? 'accept' : 'origin, accept', 'cache-control', 'no-store')
  const address = (): string => route.sourceOf(request)
  const closing = route.closedFor(address)
  const seconds = typeof closing === 'number' ? closing : await closing
  const found = route.authenticate(credentialsOf(request.headers))
  const caller = admittedCaller(found instanceof Promise ? await verified(found) : found, seconds, headers)
  const asked = typeof sent === 'string' ? readBodyQuickly(sent) : readQueryString(sent)
  const isTimed = route.observe !== null
  const context = contextOf(request, call.arrivedAt, caller, address, route.requestTimeoutMs, isTimed)
  const admitted: Admitted = { call, caller, asked, context, traced: null }
  for (const stage of stages.admission) stage(admitted)
  const unwatch = watchClient(request, context)
  const { position } = context
  const answered = await route.serving.serve(asked, caller, context)
  unwatch()
  const isLive = wanted.takesStream && answered.code === 'STREAM_REQUIRED' && route.live !== null
  const response = isLive ? await openStream(admitted, route.live, route.answers) : answered
  if (context.position !== position && context.position !== null)
    headers.push(positionHeader, positionText(context.position))
  for (const stage of stages.completion) stage(admitted, response)
  const { outcome } = response
  for (const pair of outcomeHeaders[outcome][media]) headers.push(...pair)
  const isStream = wanted.isStream && (outcome === 'ok' || outcome === 'failed')
  const body = isStream ? eventsOf(response) : response.body
  if (body instanceof LongBody) hold(call, body, route.answers.open(context))
  sendAnswer(call, statusTable[outcome][media], isStream ? eventStreamType : contentTypes[media], body)
}

/**
 * The text of a body, or the query string, to be parsed when the caller is known.
 * @throws HttpFailure for another method, or for a body that is not JSON
 */
async function receive(call: HttpCall, route: GraphqlRoute): Promise<string | URLSearchParams> {
  const { request, response } = call
  const { method, headers, url = '' } = request
  if (method === 'GET' || method === 'HEAD') return new URLSearchParams(/\?([^#]*)/.exec(url)?.[1])
  if (method !== 'POST') {
    call.headers.push('allow', 'GET, HEAD, POST, OPTIONS')
    throw new HttpFailure('METHOD_NOT_ALLOWED')
  }
  try {
    const body = await receiveBody(request, response, route)
    // A POST without a body has no text.
    return body.length === 0 && headers['content-type'] === undefined ? '' : readJsonText(headers, body)
  } catch (error) {
    // The client may be sending more.
    call.headers.push('connection', 'close')
    throw error
  }
}

/**
 * The owner is admitted even if other clients of the address are blocked, as behind a proxy without configuration.
 * @param seconds for which the address remains blocked; 0: it is not
 */
function admittedCaller(identified: Identified, seconds: number, headers: string[]): Caller {
  if (seconds !== 0 && !(identified.kind === 'caller' && identified.caller.role === ownerRole)) {
    headers.push('retry-after', String(seconds))
    throw new HttpFailure('ADDRESS_CLOSED')
  }
  if (identified.kind !== 'caller') throw failureOf(identified)
  return identified.caller
}

/** The owner's key has no limit: it is used on servers. */
function refuseTooMany({ call, context: { party, kind } }: Admitted, limit: RateLimit): void {
  const waitMs = kind === 'service' ? 0 : limit.take(party)
  if (waitMs === 0) return
  call.headers.push('retry-after', String(Math.ceil(waitMs / 1_000)))
  throw new HttpFailure('RATE_LIMITED')
}

function beginTrace(admitted: Admitted, trace: TraceRequest): void {
  const { call, asked, caller, context } = admitted
  const { traceparent: sent } = call.request.headers
  const traceparent = typeof sent === 'string' ? sent : undefined
  const { role } = caller
  admitted.traced = trace({ arrived: call.arrivedAt, operation: () => operationNameOf(asked), role, traceparent })
  if (admitted.traced !== null) context.label = admitted.traced.label
}

const observing =
  (observe: ObserveRequest) =>
  ({ call, asked, caller: { role }, context: { timeline }, traced }: Admitted, response: GraphqlResponse): void => {
    if (timeline === null) return
    const observed = { requestId: call.id, asked, role, response, timeline, done: performance.now() }
    observe(observed)
    traced?.end(observed)
    if (role === ownerRole) call.headers.push('server-timing', serverTiming(timeline))
  }

/** Resolves when the stream has begun, or with the refusal. */
async function openStream(
  { call, asked, caller, context: { party, kind } }: Admitted,
  live: LiveStreams,
  answers: ByteBudget,
): Promise<GraphqlResponse> {
  const credentials = credentialsOf(call.request.headers)
  const owner = { caller, party, kind }
  const refusal = await openEventStream(call, live, answers, { asked, owner, credentials })
  return refusal ?? { outcome: 'ok', body: '' }
}

/** Counts the body until its client has read it. */
function hold({ response }: HttpCall, body: LongBody, holding: Holding): void {
  if (response.destroyed) return
  holding.force(body.bytes)
  response.once('close', holding.release)
}

/** For the owner only: durations may reveal rows that a caller cannot see. */
const serverTiming = (timeline: Timeline): string =>
  phasesOf(timeline)
    .map(([phase, begin, end]) => `${phase};dur=${(end - begin).toFixed(2)}`)
    .join(', ')

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

type HeaderPairs = readonly (readonly [name: string, value: string])[]

const headersOf = (outcome: GraphqlOutcome, status: number): HeaderPairs =>
  Object.entries({ ...statusHeaders(status), ...(outcome === 'method-not-allowed' && { allow: 'POST' }) })

export const outcomeHeaders = Object.fromEntries(
  Object.entries(statusTable).map(([outcome, statuses]) => [
    outcome,
    Object.fromEntries(
      Object.entries(statuses).map(([media, status]) => [media, headersOf(outcome as GraphqlOutcome, status)]),
    ),
  ]),
) as Readonly<Record<GraphqlOutcome, Readonly<Record<MediaType, HeaderPairs>>>>

const usual: Wanted = { media: jsonTypes[0], isStream: false, takesStream: false }

/** @throws HttpFailure if the client accepts none of them */
export function acceptedMedia(method: string | undefined, accept: string | undefined): Wanted {
  if (accept === undefined || accept === '*/*') return usual
  // Only on explicit request: `text/*` does not mean event streams.
  const takesStream = method !== 'HEAD' && accept?.includes(eventStream) === true
  const media = negotiate(accept, takesStream ? [...jsonTypes, eventStream] : jsonTypes)
  if (media === null) throw new HttpFailure('NOT_ACCEPTABLE')
  if (media !== eventStream) return { media, isStream: false, takesStream }
  return { media: 'application/graphql-response+json', isStream: true, takesStream }
}
