import type { Environment, Socket } from '../environment.ts'
import type { GraphqlErrorEntry } from '../graphql.ts'
import { isFields, parseJson, type Fields } from '../json.ts'
import { endOfErrors, lost, unauthorized, type End } from './end.ts'
import { watchPulse } from './pulse.ts'
import type { StreamSink } from './transport.ts'
import type { Waking } from './waking.ts'

/** The subprotocol (GraphQL over WebSocket). */
const protocol = 'graphql-transport-ws'
/** For how long the other end may take to greet. */
const greetingMs = 10_000

/** What a stream hears of its socket; `end` once. */
export interface SocketStream extends StreamSink {
  readonly end: (end: End) => void
}

/** A WebSocket that streams of one caller share. */
export interface SharedSocket {
  /** Subscribes as soon as the service has greeted. Returns what ends it, which tells the stream nothing. */
  readonly subscribe: (body: string, stream: SocketStream) => () => void
}

export interface SocketParts {
  readonly address: string
  /** What `connection_init` carries. */
  readonly greeting: Fields
  readonly open: (url: string, protocol: string) => Socket
  readonly environment: Environment
  readonly waking: Waking
  /** The socket takes no more streams. */
  readonly gone: () => void
}

interface Subscribed {
  readonly body: string
  readonly stream: SocketStream
  isAnswered: boolean
}

/** Opens a socket; it closes itself when its last stream has left. */
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
  /** Ends all that is left of it. A close that the other end does not answer may take a while: nobody waits for it. */
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
    // Not at once: a page that changes its view leaves one stream and joins another.
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
  // The close that follows says more.
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

/** Codes by which the other end says that it was not spoken to as it wants: the same would be said again. */
const ofProtocol: ReadonlySet<number> = new Set([4400, 4401, 4406, 4409])

function endOfClose(code: number, reason: string): End {
  const message = reason === '' ? `The socket was closed with ${code}` : reason
  if (code === 4403) return unauthorized(message)
  const end = lost('network_failure', message)
  return ofProtocol.has(code) && end.kind === 'lost' ? { kind: 'refused', error: end.error } : end
}
