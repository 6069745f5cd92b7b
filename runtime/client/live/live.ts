import { notify } from '../events.ts'
import {
  textOfDocument,
  type GraphqlError,
  type GraphqlOptions,
  type GraphqlResult,
  type TypedDocument,
} from '../graphql.ts'
import type { Fields } from '../json.ts'
import { createEventTransport } from './by-fetch.ts'
import { createSocketTransport } from './by-socket.ts'
import { createCallers, type CallerParts } from './caller.ts'
import { openStream, type StreamParts } from './stream.ts'
import type { TransportParts } from './transport.ts'
import { createWaking } from './waking.ts'

export interface LiveOptions extends GraphqlOptions {
  /**
   * True: the service sends differences (JSON Patch, RFC 6902) if they are shorter. Answers share unchanged parts with
   * their predecessors.
   */
  readonly patch?: boolean
  /**
   * Called with the reason whenever the connection is lost or fails: it is retried until the stream is stopped. Called
   * with null when it is restored.
   */
  readonly onConnection?: (lost: GraphqlError | null) => unknown
}

/** Called with each answer. An error is the last call. Its own errors are isolated. */
export type LiveListener<Data> = (result: GraphqlResult<Data>) => unknown

export interface LiveStream {
  /** Ends it. The listener is not called any more. */
  readonly stop: () => void
  /**
   * Resolves at its end: with its error, or with null if it was stopped, its user signed out, or the service had no
   * more answers. Never rejects.
   */
  readonly done: Promise<{ readonly error: GraphqlError | null }>
}

/** Watches a subscription as the signed-in user, or as anon. Never throws. */
export interface Live {
  <Data, Variables>(
    document: TypedDocument<Data, Variables>,
    variables: Variables,
    listener: LiveListener<Data>,
    options?: LiveOptions,
  ): LiveStream
  <Data = Fields>(document: string, variables: Fields, listener: LiveListener<Data>, options?: LiveOptions): LiveStream
}

export interface LiveParts extends CallerParts, Omit<TransportParts, 'waking'> {
  /** The transport of streams; by default WebSocket if available. */
  readonly transport: 'websocket' | 'sse' | undefined
}

export interface LiveStreams {
  readonly live: Live
  /** Stops all of them. */
  readonly close: () => void
}

export function createLive(parts: LiveParts): LiveStreams {
  const { environment, transport } = parts
  const waking = createWaking(environment)
  const { openSocket } = environment
  if (transport === 'websocket' && openSocket === null) throw new TypeError('There are no WebSockets here')
  const all = { ...parts, waking }
  const stream: StreamParts = {
    ...all,
    transport:
      openSocket === null || transport === 'sse' ? createEventTransport(all) : createSocketTransport(all, openSocket),
    callers: createCallers(parts),
  }
  const stops = new Set<() => void>()
  const live = (
    document: unknown,
    variables: unknown,
    listener: LiveListener<never>,
    options: LiveOptions = {},
  ): LiveStream => {
    let resolve: (ended: { readonly error: GraphqlError | null }) => void = () => undefined
    const done = new Promise<{ readonly error: GraphqlError | null }>((settle) => (resolve = settle))
    const stop = openStream(stream, bodyText(document, variables, options), {
      result: (result) => notify(listener, result as GraphqlResult<never>),
      connection: (lost) => options.onConnection && notify(options.onConnection, lost),
      ended: (error) => {
        stops.delete(stop)
        options.signal?.removeEventListener('abort', stop)
        resolve({ error })
      },
    })
    stops.add(stop)
    options.signal?.addEventListener('abort', stop)
    if (options.signal?.aborted === true) stop()
    return { stop, done }
  }
  return {
    live,
    close: () => {
      for (const stop of [...stops]) stop()
    },
  }
}

async function bodyText(document: unknown, variables: unknown, options: LiveOptions): Promise<string> {
  const { operationName, extensions, patch } = options
  const asked = patch === true ? { ...extensions, live: { patch } } : extensions
  return JSON.stringify({ query: textOfDocument(document), variables, operationName, extensions: asked })
}
