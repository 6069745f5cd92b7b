import type { IncomingMessage } from 'node:http'
import { isIP, SocketAddress, type Socket } from 'node:net'
import { createLru } from '../lib/caches.ts'

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
