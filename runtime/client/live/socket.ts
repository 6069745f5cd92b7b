import type { Environment, Socket } from '../environment.ts'
import type { GraphqlErrorEntry } from '../graphql.ts'
import { isFields, parseJson, type Fields } from '../json.ts'
import { endOfErrors, lost, unauthorized, type End } from './end.ts'
import { watchPulse } from './pulse.ts'
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

/** Opens a socket; it closes itself after its last stream. */
export function openSharedSocket(parts: SocketParts): SharedSocket {
  const { environment, waking, gone } = parts
  const streams = new Map<string, Subscribed>()
  let [greeted, last] = [false, 0]
  const socket = parts.open(parts.address, protocol)
  const send = (message: Fields): void => socket.send(JSON.stringify(message))
  const subscribe = (id: string, body: string): void =>
    socket.send(`{"id":"${id}","type":"subscribe","payload":${body}}`)
  const answer = (id: string, message: Fields): void => {
    const subscribed = streams.get(id)
    if (subscribed === undefined) return
    if (!subscribed.isAnswered) subscribed.stream.connected()
    subscribed.isAnswered = true
    subscribed.stream.next(message, '')
  }
  const leave = (id: string, end: End): void => {
    const left = streams.get(id)
    streams.delete(id)
    left?.stream.end(end)
    closeIfUnused()
  }
  /** Ends all of its streams. A close handshake without an answer may take a while: it is not awaited. */
  const over = (end: End, code = 1000): void => {
    stopGreeting()
    pulse.stop()
    gone()
    socket.onmessage = socket.onclose = null
    socket.close(code, '')
    const left = [...streams.values()]
    streams.clear()
    for (const { stream } of left) stream.end(end)
  }
  const closeIfUnused = (): void => {
    // Delayed: a page that changes its view leaves one stream and joins another.
    environment.after(0, () => {
      if (streams.size === 0) over({ kind: 'completed' })
    })
  }
  const stopGreeting = environment.after(greetingMs, () => over(lost('network_failure', 'Nobody greeted'), 4_408))
  const pulse = watchPulse(environment, waking, {
    ask: () => {
      if (greeted) send({ type: 'ping' })
    },
    dead: () => {
      if (greeted) over(lost('network_failure', 'The connection is dead'))
    },
  })
  const hear: Readonly<Record<string, (id: string, payload: unknown) => void>> = {
    connection_ack: () => {
      greeted = true
      stopGreeting()
      for (const [id, { body }] of streams) subscribe(id, body)
    },
    ping: () => send({ type: 'pong' }),
    next: (id, payload) => {
      const errors = isFields(payload) ? (payload['errors'] as readonly GraphqlErrorEntry[] | undefined) : []
      if (errors !== undefined) leave(id, endOfErrors(errors))
      else answer(id, payload as Fields)
    },
    error: (id, errors) => leave(id, endOfErrors(Array.isArray(errors) ? errors : [])),
    complete: (id) => leave(id, { kind: 'completed' }),
  }
  socket.onopen = () => send({ type: 'connection_init', payload: parts.greeting })
  socket.onmessage = ({ data }) => {
    pulse.heard()
    const message = typeof data === 'string' ? parseJson(data) : undefined
    if (!isFields(message)) return over(lost('bad_answer', 'The service sent something else than was expected'))
    const type = String(message['type'])
    if (Object.hasOwn(hear, type)) hear[type]?.(String(message['id']), message['payload'])
  }
  socket.onclose = ({ code, reason }) => over(endOfClose(code, reason))
  // The following close has more details.
  socket.onerror = () => undefined
  return {
    subscribe: (body, stream) => {
      const id = String((last += 1))
      streams.set(id, { body, stream, isAnswered: false })
      if (greeted) subscribe(id, body)
      return () => {
        if (!streams.delete(id)) return
        if (greeted) send({ id, type: 'complete' })
        closeIfUnused()
      }
    },
  }
}

/** Close codes of protocol errors: a retry would repeat them. */
const ofProtocol: ReadonlySet<number> = new Set([4400, 4401, 4406, 4409])

function endOfClose(code: number, reason: string): End {
  const message = reason === '' ? `The socket was closed with ${code}` : reason
  if (code === 4403) return unauthorized(message)
  const end = lost('network_failure', message)
  return ofProtocol.has(code) && end.kind === 'lost' ? { kind: 'refused', error: end.error } : end
}
