import type { IncomingHttpHeaders } from 'node:http'
import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import { failureOf, verified } from '../../http/credential-failures.ts'
import { HttpFailure } from '../../../http/boundary.ts'
import { partyOf } from '../../../http/request-context.ts'
import { credentialsOf, type Authenticate, type Credentials } from '../../../identity/caller.ts'
import type { ByteBudget } from '../../../lib/byte-budget.ts'
import type { JoinRounds } from '../../../lib/timers.ts'
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
import { createOutlet, type SocketOutlet } from './outlet.ts'
import { countUnfinished, type UnfinishedParts } from './unfinished.ts'

/** A socket and its client's messages: graphql-transport-ws (enisdenjo/graphql-ws, PROTOCOL.md). */

export interface ConnectionParts extends OperationParts, UnfinishedParts {
  readonly authenticate: Authenticate
  readonly sessions: Sessions
  /** The rounds in which sockets are checked for live clients. */
  readonly rounds: JoinRounds
  readonly answers: ByteBudget
  /** Counts a socket of a caller; null: there are too many. The result undoes it. */
  readonly admit: (owner: StreamOwner) => (() => void) | null
}

/** The request that opened the socket. */
export interface Handshake {
  readonly headers: IncomingHttpHeaders
  /** The key by which limits count its client. */
  readonly source: string
  /** Called when its caller is known, who has a limit of sockets; the result undoes it. */
  readonly acknowledged: () => () => void
}

const initTimeoutMs = 3_000

/** The maximum number of simultaneous operations on one socket: the streams that a caller may have. */
const mostOperations = 100

/** The maximum number of messages without a request between two checks of the client. */
const mostIdleMessages = 300

interface ServedSocket extends Handshake {
  readonly parts: ConnectionParts
  readonly socket: WebSocket
  readonly outlet: SocketOutlet
  readonly operations: Map<string, SocketOperation>
  /** Called when it is closed. */
  readonly leaves: (() => void)[]
  /** Stops waiting for `connection_init`. */
  readonly stopWaiting: () => void
  /** Null: not authenticated yet. */
  owner: StreamOwner | null
  hasInit: boolean
  isAlive: boolean
  /** Messages without a request since the last check of the client. */
  idleMessages: number
}

/** Serves the socket until it is closed; the result closes it because this process stops. */
export function serveSocket(
  parts: ConnectionParts,
  socket: WebSocket,
  stream: Duplex,
  handshake: Handshake,
): () => void {
  const unsent = parts.answers.open({ party: handshake.source })
  const outlet = createOutlet(socket, stream, unsent)
  const stopWaiting = parts.setDeadline(initTimeoutMs, () => outlet.close(closings.initTimeout))
  const served: ServedSocket = {
    ...handshake,
    parts,
    socket,
    outlet,
    operations: new Map(),
    leaves: [stopWaiting],
    stopWaiting,
    owner: null,
    hasInit: false,
    isAlive: true,
    idleMessages: 0,
  }
  const { operations, leaves } = served
  leaves.push(parts.rounds(() => checkClient(served)))
  countUnfinished(
    parts,
    socket,
    stream,
    handshake.source,
    () => served.owner !== null,
    (closing) => {
      outlet.close(closing)
      // Nothing more of the message is kept.
      stream.destroy()
    },
  )
  socket.on('pong', () => (served.isAlive = true))
  socket.on('message', (data: Buffer, isBinary: boolean) => {
    served.isAlive = true
    if (socket.readyState !== socket.OPEN) return
    const message = isBinary ? null : readMessage(data.toString())
    if (message === null) outlet.close(closings.invalid)
    else receive(served, message)
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
  if (socket.protocol !== subprotocol) outlet.close(closings.subprotocol)
  return () => outlet.close(closings.goingAway)
}

function checkClient(served: ServedSocket): void {
  if (!served.isAlive) return served.socket.terminate()
  served.isAlive = false
  served.idleMessages = 0
  served.socket.ping()
}

function receive(served: ServedSocket, message: ClientMessage): void {
  const { outlet, operations } = served
  if (isIdle(served, message)) {
    served.idleMessages += 1
    if (served.idleMessages > mostIdleMessages) return outlet.close(closings.tooMany)
  }
  switch (message.type) {
    case 'connection_init':
      return void init(served, message.payload).catch((error: unknown) => outlet.close(closingOf(error)))
    case 'ping':
      return outlet.text(pong(message.payload))
    case 'pong':
      return
    case 'subscribe':
      return subscribe(served, message)
    case 'complete':
      operations.get(message.id)?.cancel()
      operations.delete(message.id)
  }
}

const isIdle = ({ operations }: ServedSocket, message: ClientMessage): boolean =>
  message.type === 'ping' || message.type === 'pong' || (message.type === 'complete' && !operations.has(message.id))

async function init(served: ServedSocket, payload: JsonObject): Promise<void> {
  const { parts, socket, outlet, leaves } = served
  if (served.hasInit) return outlet.close(closings.secondInit)
  served.hasInit = true
  served.stopWaiting()
  const credentials = credentialsIn(payload, served.headers)
  const identified = await verified(parts.authenticate(credentials))
  if (socket.readyState !== socket.OPEN) return
  const forbid = (why: Parameters<typeof failureOf>[0]): void =>
    outlet.close(closingWith(closings.forbidden, failureOf(why).message))
  if (identified.kind !== 'caller') return forbid(identified)
  const { caller } = identified
  const owner: StreamOwner = { caller, ...partyOf(caller, () => served.source) }
  const leave = parts.admit(owner)
  if (leave === null) return outlet.close(closings.tooMany)
  leaves.push(leave, served.acknowledged())
  served.owner = owner
  leaves.push(parts.sessions.open(credentials, forbid))
  outlet.text(acknowledgement)
}

function subscribe(
  { parts, owner, outlet, operations }: ServedSocket,
  message: Extract<ClientMessage, { type: 'subscribe' }>,
): void {
  const { id } = message
  if (owner === null) return outlet.close(closings.unauthorized)
  if (operations.has(id)) return outlet.close(subscriberExists(id))
  if (operations.size >= mostOperations) return outlet.text(errorMessage(id, tooManyOperations))
  operations.set(
    id,
    beginOperation(parts, owner, outlet, message, () => operations.delete(id)),
  )
}

const tooManyOperations = JSON.stringify([
  { message: `A socket has at most ${mostOperations} operations at a time.`, extensions: { code: 'OVERLOADED' } },
])

/** Browsers send no headers; the payload takes precedence over them. */
function credentialsIn(payload: JsonObject, headers: IncomingHttpHeaders): Credentials {
  const named = new Map(Object.entries(payload).map(([name, value]) => [name.toLowerCase(), value]))
  const textOf = (name: string): string | undefined => {
    const value = named.get(name)
    return typeof value === 'string' ? value : undefined
  }
  const sent = credentialsOf(headers)
  return { apikey: textOf('apikey') ?? sent.apikey, authorization: textOf('authorization') ?? sent.authorization }
}

const closingOf = (error: unknown): Closing =>
  error instanceof HttpFailure ? closings.unavailable : [1011, 'Something went wrong on our side']
