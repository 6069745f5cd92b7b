import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyRequest } from 'fastify'
import {
  type Caller,
  type PartyKind,
  type RequestContext,
  positionHeader,
  readPosition,
  type Timeline,
} from '../contract/execution.ts'
import { ownerRole } from '../identity/project-keys.ts'
import { createBag, type Bag } from '../lib/timers.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** When its headers had arrived, on the monotonic clock in milliseconds. */
    arrivedAt: number
  }
}

/** Safe to echo and log: no blanks, no control characters, bounded length. */
const acceptable = /^[\w.:+/=-]{1,128}$/

/** The id that the client sent, if it is safe, else a new one. */
export function requestIdOf(request: IncomingMessage): string {
  const sent = request.headers['x-request-id']
  return typeof sent === 'string' && acceptable.test(sent) ? sent : randomUUID()
}

export const newTimeline = (arrived: number): Timeline => ({ arrived, prepared: 0, lent: 0, answered: 0 })

/** The party of a caller: the signed-in user, or the client's address for anon and guests. */
export function partyOf(
  { role, user }: Caller,
  address: () => string,
): { readonly party: string; readonly kind: PartyKind } {
  const kind = role === ownerRole ? 'service' : user === undefined ? 'stranger' : 'member'
  return { kind, party: role === ownerRole ? ownerRole : (user ?? address()) }
}

/**
 * The context of a request for the database layer.
 * @param limitMs the time limit of a request from its arrival on; 0: none
 * @param isTimed whether the durations of its phases are needed
 */
export function contextOf(
  request: FastifyRequest,
  caller: Caller,
  address: () => string,
  limitMs: number,
  isTimed: boolean,
): RequestContext {
  const { party, kind } = partyOf(caller, address)
  const deadline = limitMs === 0 ? Infinity : request.arrivedAt + limitMs
  // Member by member: in V8 a spread with further members takes microseconds.
  const timeline = isTimed ? newTimeline(request.arrivedAt) : null
  const sent = request.headers[positionHeader]
  const position = sent === undefined ? null : readPosition(sent)
  return { party, kind, deadline, label: undefined, timeline, position, gone: false, onGone: null }
}

/**
 * Of work that no HTTP request waits for.
 * @param limitMs what it may take from now on; 0: any time
 */
export const newContext = (
  { party, kind }: Pick<RequestContext, 'party' | 'kind'>,
  limitMs: number,
  timeline: Timeline | null = null,
): RequestContext => {
  const deadline = limitMs === 0 ? Infinity : performance.now() + limitMs
  return { party, kind, deadline, label: undefined, timeline, position: null, gone: false, onGone: null }
}

/** The requests without an answer on each connection. */
const awaited = new WeakMap<Socket, Bag<RequestContext>>()

/** Reports when the client of a request closes its connection; call the result when it is answered. */
export function watchClient({ raw: { socket } }: FastifyRequest, context: RequestContext): () => void {
  const contexts = awaited.get(socket) ?? startWatching(socket)
  const answered = contexts.add(context)
  if (socket.destroyed) leave(contexts)
  return answered
}

function startWatching(socket: Socket): Bag<RequestContext> {
  const contexts = createBag<RequestContext>()
  awaited.set(socket, contexts)
  socket.once('close', () => leave(contexts))
  return contexts
}

function leave(contexts: Bag<RequestContext>): void {
  for (const context of contexts.all()) {
    context.gone = true
    context.onGone?.()
  }
}
