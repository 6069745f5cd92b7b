import type { Environment, Socket } from '../environment.ts'
import type { GraphqlErrorEntry } from '../graphql.ts'
import { isFields, parseJson, type Fields } from '../json.ts'
import { endOfErrors, lost, unauthorized, type End } from './end.ts'
import { watchPulse, type Pulse } from './pulse.ts'
import type { StreamSink } from './transport.ts'
import type { Waking } from './waking.ts'

/** The subprotocol (GraphQL over WebSocket). */
const protocol = 'graphql-transport-ws'
/** The time limit of the acknowledgement. */
const greetingMs = 10_000

/** Events of a stream's socket; `end` once. */
export interface SocketStream extends StreamSink {
  readonly end: (end: End) => void
}

export interface SharedSocket {
  /** Subscribes after the acknowledgement. Returns a function that ends it without an event. */
  readonly subscribe: (body: string, stream: SocketStream) => () => void
}

export interface SocketParts {
  readonly address: string
  /** The payload of `connection_init`. */
  readonly greeting: Fields
  readonly open: (url: string, protocol: string) => Socket
  readonly environment: Environment
  readonly waking: Waking
  /** The socket accepts no more streams. */
  readonly gone: () => void
}

interface Subscribed {
  readonly body: string
  readonly stream: SocketStream
  isAnswered: boolean
}

interface SocketState extends Pick<SocketParts, 'environment' | 'gone'> {
  readonly socket: Socket
  readonly streams: Map<string, Subscribed>
  readonly pulse: Pulse
  readonly stopGreeting: () => void
  greeted: boolean
  /** The id of the last stream. */
  last: number
}

/** Opens a socket; it closes itself after its last stream. */
export function openSharedSocket(parts: SocketParts): SharedSocket {
  const { environment, waking, gone } = parts
  const socket = parts.open(parts.address, protocol)
  const state: SocketState = {
    environment,
    gone,
    socket,
    streams: new Map(),
    stopGreeting: environment.after(greetingMs, () => over(state, lost('network_failure', 'Nobody greeted'), 4_408)),
    pulse: watchPulse(environment, waking, {
      ask: () => {
        if (state.greeted) send(socket, { type: 'ping' })
      },
      dead: () => {
        if (state.greeted) over(state, lost('network_failure', 'The connection is dead'))
      },
    }),
    greeted: false,
    last: 0,
  }
  socket.onopen = () => send(socket, { type: 'connection_init', payload: parts.greeting })
  socket.onmessage = ({ data }) => {
    state.pulse.heard()
    const message = typeof data === 'string' ? parseJson(data) : undefined
    if (!isFields(message)) return over(state, lost('bad_answer', 'The service sent something else than was expected'))
    const type = String(message['type'])
    if (Object.hasOwn(hear, type)) hear[type]?.(state, String(message['id']), message['payload'])
  }
  socket.onclose = ({ code, reason }) => over(state, endOfClose(code, reason))
  // The following close has more details.
  socket.onerror = () => undefined
  return { subscribe: (body, stream) => join(state, body, stream) }
}

function join(state: SocketState, body: string, stream: SocketStream): () => void {
  const { socket, streams } = state
  const id = String((state.last += 1))
  streams.set(id, { body, stream, isAnswered: false })
  if (state.greeted) subscribe(socket, id, body)
  return () => {
    if (!streams.delete(id)) return
    if (state.greeted) send(socket, { id, type: 'complete' })
    closeIfUnused(state)
  }
}

const send = (socket: Socket, message: Fields): void => socket.send(JSON.stringify(message))

const subscribe = (socket: Socket, id: string, body: string): void =>
  socket.send(`{"id":"${id}","type":"subscribe","payload":${body}}`)

const hear: Readonly<Record<string, (state: SocketState, id: string, payload: unknown) => void>> = {
  connection_ack: (state) => {
    state.greeted = true
    state.stopGreeting()
    for (const [id, { body }] of state.streams) subscribe(state.socket, id, body)
  },
  ping: ({ socket }) => send(socket, { type: 'pong' }),
  next: (state, id, payload) => {
    const errors = isFields(payload) ? (payload['errors'] as readonly GraphqlErrorEntry[] | undefined) : []
    if (errors !== undefined) leave(state, id, endOfErrors(errors))
    else answer(state.streams.get(id), payload as Fields)
  },
  error: (state, id, errors) => leave(state, id, endOfErrors(Array.isArray(errors) ? errors : [])),
  complete: (state, id) => leave(state, id, { kind: 'completed' }),
}

function answer(subscribed: Subscribed | undefined, message: Fields): void {
  if (subscribed === undefined) return
  if (!subscribed.isAnswered) subscribed.stream.connected()
  subscribed.isAnswered = true
  subscribed.stream.next(message, '')
}

function leave(state: SocketState, id: string, end: End): void {
  const left = state.streams.get(id)
  state.streams.delete(id)
  left?.stream.end(end)
  closeIfUnused(state)
}

function closeIfUnused(state: SocketState): void {
  // Delayed: a page that changes its view leaves one stream and joins another.
  state.environment.after(0, () => {
    if (state.streams.size === 0) over(state, { kind: 'completed' })
  })
}

/** Ends all of its streams. A close handshake without an answer may take a while: it is not awaited. */
function over({ socket, streams, pulse, stopGreeting, gone }: SocketState, end: End, code = 1000): void {
  stopGreeting()
  pulse.stop()
  gone()
  socket.onmessage = socket.onclose = null
  socket.close(code, '')
  const left = [...streams.values()]
  streams.clear()
  for (const { stream } of left) stream.end(end)
}

/** Close codes of protocol errors: a retry would repeat them. */
const ofProtocol: ReadonlySet<number> = new Set([4400, 4401, 4406, 4409])

function endOfClose(code: number, reason: string): End {
  const message = reason === '' ? `The socket was closed with ${code}` : reason
  if (code === 4403) return unauthorized(message)
  const end = lost('network_failure', message)
  return ofProtocol.has(code) && end.kind === 'lost' ? { kind: 'refused', error: end.error } : end
}
