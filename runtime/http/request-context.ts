import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { type Socket, isIP, SocketAddress } from 'node:net'
import { type Caller, type RequestContext, positionHeader, readPosition, type Timeline } from '../contract/execution.ts'
import { ownerRole } from '../identity/project-keys.ts'
import type { PartyKind } from '../lib/sharing/places.ts'
import { createUnorderedSet, type UnorderedSet } from '../lib/timers.ts'
import { createLru } from '../lib/caches.ts'

/** Safe to echo and log: no blanks, no control characters, bounded length. */
const acceptable = /^[\w.:+/=-]{1,128}$/

/** The id that the client sent, if it is safe, else a new one. */
export function requestIdOf(request: IncomingMessage): string {
  const sent = request.headers['x-request-id']
  return typeof sent === 'string' && acceptable.test(sent) ? sent : randomUUID()
}

export const newTimeline = (arrived: number): Timeline => ({ arrived, prepared: 0, acquired: 0, answered: 0 })

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
 * @param arrivedAt when its headers had arrived, on the monotonic clock in milliseconds
 * @param limitMs the time limit of a request from its arrival on; 0: none
 * @param isTimed whether the durations of its phases are needed
 */
export function contextOf(
  request: IncomingMessage,
  arrivedAt: number,
  caller: Caller,
  address: () => string,
  limitMs: number,
  isTimed: boolean,
): RequestContext {
  const { party, kind } = partyOf(caller, address)
  const deadline = limitMs === 0 ? Infinity : arrivedAt + limitMs
  // Member by member: in V8 a spread with further members takes microseconds.
  const timeline = isTimed ? newTimeline(arrivedAt) : null
  const sent = request.headers[positionHeader]
  const position = sent === undefined ? null : readPosition(sent)
  return { party, kind, deadline, label: undefined, timeline, position, aborted: false, onAbort: null }
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
  return { party, kind, deadline, label: undefined, timeline, position: null, aborted: false, onAbort: null }
}

/** The requests without an answer on each connection. */
const awaited = new WeakMap<Socket, UnorderedSet<RequestContext>>()

/** Reports when the client of a request closes its connection; call the result when it is answered. */
export function watchClient({ socket }: IncomingMessage, context: RequestContext): () => void {
  const contexts = awaited.get(socket) ?? startWatching(socket)
  const answered = contexts.add(context)
  if (socket.destroyed) abortAll(contexts)
  return answered
}

function startWatching(socket: Socket): UnorderedSet<RequestContext> {
  const contexts = createUnorderedSet<RequestContext>()
  awaited.set(socket, contexts)
  socket.once('close', () => abortAll(contexts))
  return contexts
}

function abortAll(contexts: UnorderedSet<RequestContext>): void {
  for (const context of contexts.all()) {
    context.aborted = true
    context.onAbort?.()
  }
}

/** A request with its address: Fastify's or Node's. */
type Addressed = Pick<IncomingMessage, 'headers' | 'socket'>

/**
 * The address of a request: the connection's remote address or, behind a proxy, the value in the one header that its
 * operator names. No other header is trusted (spec/auth.md, attack 32). A proxy that appends to a list puts its own
 * value last.
 */
export function clientAddress(request: Addressed, trustedHeader: string | null): string | null {
  const value = trustedHeader === null ? undefined : request.headers[trustedHeader]
  const last = lastOf((Array.isArray(value) ? value.at(-1) : value) ?? '')
  return normalAddress(last) ?? normalAddress(request.socket.remoteAddress ?? '')
}

const lastOf = (list: string): string => list.split(',').at(-1)?.trim() ?? ''

/** The key by which limits count a connection. */
export function limitSourceOf({ remoteAddress }: Socket): string {
  return limitSource(normalAddress(remoteAddress ?? ''))
}

/** An IPv4-mapped IPv6 address becomes IPv4 (RFC 4291 section 2.5.5.2); null for an invalid address. */
function normalAddress(text: string): string | null {
  if (isIP(text) === 4) return text
  const address = text.replace(/^\[(.*)\]$/, '$1').replace(/%.*$/, '')
  if (isIP(address) === 0) return null
  // However its groups are written, Node returns the form that ends in the IPv4 address.
  const written = /ffff:/i.test(address) ? new SocketAddress({ address, family: 'ipv6' }).address : address
  return /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(written)?.[1] ?? address
}

/** The number of cached addresses. */
const mostSources = 10_000

/** The key by which limits count the client of a request; cached, because parsing an address costs every request. */
export function createSourceOf(trustedHeader: string | null): (request: Addressed) => string {
  const sources = createLru<string, string>(mostSources)
  return (request) => {
    const value = trustedHeader === null ? request.socket.remoteAddress : request.headers[trustedHeader]
    const known = typeof value === 'string' ? sources.get(value) : undefined
    if (known !== undefined) return known
    const source = limitSource(clientAddress(request, trustedHeader))
    // Without an address in the header the connection's counts, which may change.
    if (typeof value === 'string' && normalAddress(lastOf(value)) !== null) sources.set(value, source)
    return source
  }
}

/** The key of limits: an IPv4 address, or the /64 that one customer has of IPv6 (RFC 6177). */
export function limitSource(address: string | null): string {
  if (address === null) return 'unknown'
  return isIP(address) === 6 ? `${groupsOf(address).slice(0, 4).join(':')}::/64` : address
}

/** The eight groups of an IPv6 address (RFC 4291 section 2.2), without leading zeros. */
function groupsOf(address: string): readonly string[] {
  const [head = '', tail] = address.toLowerCase().split('::')
  const list = (part: string): readonly string[] => part.split(':').filter((group) => group !== '')
  const [front, back] = [list(head), list(tail ?? '')]
  const zeros = tail === undefined ? [] : Array.from({ length: Math.max(0, 8 - front.length - back.length) }, () => '0')
  return [...front, ...zeros, ...back].map((group) => group.replace(/^0+(?=.)/, ''))
}
