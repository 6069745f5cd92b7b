import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { WebSocketServer } from 'ws'
import { credentialsOf } from '../../../identity/caller.ts'
import { verified } from '../../http/credential-failures.ts'
import { bareText, type RenderBare, failureTable, type HttpFailureCode } from '../../../http/boundary.ts'
import type { Origins } from '../../../http/cors.ts'
import { ownerRole } from '../../../identity/project-keys.ts'
import { addToCount } from '../../../lib/byte-budget.ts'
import { createDeadlines } from '../../../lib/timers.ts'
import type { StreamOwner } from '../streams/stream-types.ts'
import { serveSocket, type ConnectionParts } from './connection.ts'
import { subprotocol } from './messages.ts'

/** WebSockets of GraphQL: their admission, and their number. */
export interface Sockets {
  /** Takes over the connection of a request to upgrade it (RFC 6455 section 4.2), or refuses it. */
  readonly upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void
  readonly open: () => number
  /** Closes all, and admits none. */
  readonly stop: () => void
}

export interface SocketParts extends Omit<ConnectionParts, 'admit' | 'setDeadline'> {
  /** Origins whose pages may open one; null: all. */
  readonly origins: Origins
  /** An optional prefix of addresses; null: none. */
  readonly pathPrefix: string | null
  readonly socketsOfParty: number
  /** The seconds for which the address of a request remains blocked. */
  readonly closedFor: (request: IncomingMessage) => number | Promise<number>
  readonly sourceOf: (request: IncomingMessage) => string
  /** Counts a connection among those of streams, until the result is called. */
  readonly carriesStreams: (socket: Socket) => () => void
}

const path = '/graphql/v1'

/** Sockets of one address without an acknowledgement, which end after three seconds. */
const pendingOfSource = 100

/** The maximum delay of time limits. */
const lookEveryMs = 100

export function createSockets(parts: SocketParts): Sockets {
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    // Compression takes three times the memory, and six times the time.
    perMessageDeflate: false,
    maxPayload: parts.bodyLimitBytes,
    handleProtocols: (offered) => (offered.has(subprotocol) ? subprotocol : false),
  })
  const closers = new Set<() => void>()
  const setDeadline = createDeadlines(lookEveryMs)
  const admit = createAdmission(parts.socketsOfParty)
  const pending = new Map<string, number>()
  let isStopped = false
  const upgrade = async (request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> => {
    const refusal = isStopped ? 'SERVER_STOPPING' : await refusalOf(parts, request)
    if (refusal !== null) return refuseUpgrade(socket, refusal)
    const source = parts.sourceOf(request)
    if ((pending.get(source) ?? 0) >= pendingOfSource) return refuseUpgrade(socket, 'OVERLOADED')
    server.handleUpgrade(request, socket, head, (opened) => {
      let isPending = true
      addToCount(pending, source, 1)
      const settle = (): void => {
        if (isPending) addToCount(pending, source, -1)
        isPending = false
      }
      const acknowledged = (): (() => void) => {
        settle()
        return parts.carriesStreams(request.socket)
      }
      const handshake = { headers: request.headers, source, acknowledged }
      const close = serveSocket({ ...parts, setDeadline, admit }, opened, socket, handshake)
      closers.add(close)
      opened.once('close', () => {
        closers.delete(close)
        settle()
      })
    })
  }
  return {
    upgrade: (request, socket, head) => {
      socket.on('error', () => socket.destroy())
      upgrade(request, socket, head).catch(() => refuseUpgrade(socket, 'INTERNAL'))
    },
    open: () => closers.size,
    stop: () => {
      isStopped = true
      for (const close of closers) close()
    },
  }
}

async function refusalOf(parts: SocketParts, request: IncomingMessage): Promise<HttpFailureCode | null> {
  const { url = '/', headers } = request
  if (pathOf(url, parts.pathPrefix) !== path) return 'NOT_FOUND'
  const { origin } = headers
  if (parts.origins !== null && origin !== undefined && !parts.origins.includes(origin)) return 'ORIGIN_REFUSED'
  if ((await parts.closedFor(request)) === 0) return null
  // The owner is admitted even if other clients of the address are blocked.
  const identified = await verified(parts.authenticate(credentialsOf(headers)))
  return identified.kind === 'caller' && identified.caller.role === ownerRole ? null : 'ADDRESS_CLOSED'
}

function pathOf(url: string, prefix: string | null): string {
  const whole = url.split('?', 1)[0] ?? ''
  return prefix !== null && whole.startsWith(`${prefix}/`) ? whole.slice(prefix.length) : whole
}

const render: RenderBare = ({ code, message }) => ({
  status: failureTable[code].status,
  headers: {},
  body: { data: null, errors: [{ message, extensions: { code } }] },
})

function refuseUpgrade(socket: Duplex, code: HttpFailureCode): void {
  if (!socket.writableEnded) socket.end(bareText(code, render))
}

/** The owner's key is used on servers, and may open all connections. */
function createAdmission(most: number): ConnectionParts['admit'] {
  const parties = new Map<string, number>()
  return ({ party, kind }: StreamOwner) => {
    if (kind !== 'service' && (parties.get(party) ?? 0) >= most) return null
    addToCount(parties, party, 1)
    return () => void addToCount(parties, party, -1)
  }
}
