import type { IncomingHttpHeaders } from 'node:http'
import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import { failureOf, throwUnidentified } from '../../http/who-asks.ts'
import { HttpFailure } from '../../../http/boundary.ts'
import { partyOf } from '../../../http/request-context.ts'
import { credentialsOf, type Authenticate, type Credentials } from '../../../identity/caller.ts'
import type { ByteBudget } from '../../../lib/byte-budget.ts'
import type { SetDeadline, JoinRounds } from '../../../lib/timers.ts'
import type { JsonObject } from '../../../lib/json.ts'
import type { Sessions } from '../streams/sessions.ts'
import type { StreamOwner } from '../streams/stream-types.ts'
import {
  acknowledgement,
  closings,
  closingWith,
  errorMessage,
  pong,
  readMessage,
  subprotocol,
  subscriberExists,
  type ClientMessage,
  type Closing,
} from './messages.ts'
import { beginOperation, type SocketOperation, type OperationParts } from './operation.ts'
import { createOutlet } from './outlet.ts'

/** A socket and its client's messages: graphql-transport-ws (enisdenjo/graphql-ws, PROTOCOL.md). */

export interface ConnectionParts extends OperationParts {
  readonly authenticate: Authenticate
  readonly sessions: Sessions
  /** The rounds in which sockets are checked for live clients. */
  readonly rounds: JoinRounds
  readonly setDeadline: SetDeadline
  readonly answers: ByteBudget
  /** Counts a socket of a caller; null: there are too many. The result undoes it. */
  readonly admit: (owner: StreamOwner) => (() => void) | null
}

/** The request that opened the socket. */
export interface Handshake {
  readonly headers: IncomingHttpHeaders
  /** The key by which limits count its client. */
  readonly source: string
}

const initTimeoutMs = 3_000

/** The maximum number of simultaneous operations on one socket: the streams that a caller may have. */
const mostOperations = 100

/** The maximum number of messages without a request between two checks of the client. */
const mostIdleMessages = 300

/** Serves the socket until it is closed; the result closes it because this process stops. */
export function serveSocket(
  parts: ConnectionParts,
  socket: WebSocket,
  stream: Duplex,
  { headers, source }: Handshake,
): () => void {
  const operations = new Map<string, SocketOperation>()
  const unsent = parts.answers.open(source)
  const outlet = createOutlet(socket, stream, unsent)
  const leaves: (() => void)[] = []
  let owner: StreamOwner | null = null
  let hasInit = false
  let isAlive = true
  let idleMessages = 0

  const close = (closing: Closing): void => outlet.close(closing)
  const init = async (payload: JsonObject): Promise<void> => {
    if (hasInit) return close(closings.secondInit)
    hasInit = true
    stopWaiting()
    const credentials = credentialsIn(payload, headers)
    const identified = await parts.authenticate(credentials).catch(throwUnidentified)
    if (socket.readyState !== socket.OPEN) return
    if (identified.kind !== 'caller') return close(closingWith(closings.forbidden, failureOf(identified).message))
    const { caller } = identified
    const admitted: StreamOwner = { caller, ...partyOf(caller, () => source) }
    const leave = parts.admit(admitted)
    if (leave === null) return close(closings.tooMany)
    leaves.push(leave)
    owner = admitted
    leaves.push(
      parts.sessions.open(credentials, (refusal) => close(closingWith(closings.forbidden, failureOf(refusal).message))),
    )
    outlet.text(acknowledgement)
  }
  const subscribe = (message: Extract<ClientMessage, { type: 'subscribe' }>): void => {
    const { id } = message
    if (owner === null) return close(closings.unauthorized)
    if (operations.has(id)) return close(subscriberExists(id))
    if (operations.size >= mostOperations) return outlet.text(errorMessage(id, tooManyOperations))
    operations.set(
      id,
      beginOperation(parts, owner, outlet, message, () => operations.delete(id)),
    )
  }
  const isIdle = (message: ClientMessage): boolean =>
    message.type === 'ping' || message.type === 'pong' || (message.type === 'complete' && !operations.has(message.id))
  const receive = (message: ClientMessage): void => {
    if (isIdle(message)) {
      idleMessages += 1
      if (idleMessages > mostIdleMessages) return close(closings.tooMany)
    }
    switch (message.type) {
      case 'connection_init':
        return void init(message.payload).catch((error: unknown) => close(closingOf(error)))
      case 'ping':
        return outlet.text(pong(message.payload))
      case 'pong':
        return
      case 'subscribe':
        return subscribe(message)
      case 'complete':
        operations.get(message.id)?.cancel()
        operations.delete(message.id)
    }
  }
  const stopWaiting = parts.setDeadline(initTimeoutMs, () => close(closings.initTimeout))
  leaves.push(
    stopWaiting,
    parts.rounds(() => {
      if (!isAlive) return socket.terminate()
      isAlive = false
      idleMessages = 0
      socket.ping()
    }),
  )
  socket.on('pong', () => (isAlive = true))
  socket.on('message', (data: Buffer, isBinary: boolean) => {
    isAlive = true
    if (socket.readyState !== socket.OPEN) return
    const message = isBinary ? null : readMessage(data.toString())
    if (message === null) close(closings.invalid)
    else receive(message)
    // While a client does not read its answers, its messages are not read.
    if (stream.writableNeedDrain) socket.pause()
  })
  // Protocol errors, such as a message that is too long: `ws` closes the socket with the right code.
  socket.on('error', () => undefined)
  socket.once('close', () => {
    for (const leave of leaves) leave()
    for (const operation of operations.values()) operation.cancel()
    operations.clear()
    unsent.release()
  })
  stream.on('drain', () => {
    unsent.release()
    if (socket.isPaused) socket.resume()
    for (const operation of operations.values()) if (outlet.isWritable()) operation.ready()
  })
  if (socket.protocol !== subprotocol) close(closings.subprotocol)
  return () => close(closings.goingAway)
}

const tooManyOperations = JSON.stringify([
  {
    message: `A socket has at most ${mostOperations} operations at a time.`,
    extensions: { code: 'OVERLOADED' },
  },
])

/** Browsers send no headers; the payload takes precedence over them. */
function credentialsIn(payload: JsonObject, headers: IncomingHttpHeaders): Credentials {
  const named = new Map(Object.entries(payload).map(([name, value]) => [name.toLowerCase(), value]))
  const textOf = (name: string): string | undefined => {
    const value = named.get(name)
    return typeof value === 'string' ? value : undefined
  }
  const sent = credentialsOf(headers)
  return {
    apikey: textOf('apikey') ?? sent.apikey,
    authorization: textOf('authorization') ?? sent.authorization,
  }
}

const closingOf = (error: unknown): Closing =>
  error instanceof HttpFailure ? closings.unavailable : [1011, 'Something went wrong on our side']
