import type { Socket } from 'node:net'
import { bodyBytes } from '../../http/bodies.ts'
import type { HttpCall } from '../../http/call.ts'
import type { CredentialRefusal, Credentials } from '../../identity/caller.ts'
import type { ByteBudget } from '../../lib/byte-budget.ts'
import type { JoinRounds } from '../../lib/timers.ts'
import type { Hub } from '../live/streams/hub.ts'
import type { Sessions } from '../live/streams/sessions.ts'
import type { SharedAnswer, LiveStream, StreamOwner, StreamSink } from '../live/streams/stream-types.ts'
import type { GraphqlRequest, GraphqlResponse } from '../protocol/request-and-answer.ts'
import { refusalResponse } from './credential-failures.ts'

/** Answers as Server-Sent Events: "distinct connections mode" of GraphQL over Server-Sent Events. */

export interface LiveStreams {
  readonly open: Hub['open']
  readonly sessions: Sessions
  /** The rounds that keep streams alive. */
  readonly rounds: JoinRounds
  /** Counts a connection among those with streams, until the result is called. */
  readonly carriesStreams: (socket: Socket) => () => void
}

export const eventStream = 'text/event-stream'
export const eventStreamType = `${eventStream}; charset=utf-8`

/** The interval of keep-alive messages in milliseconds, so that no proxy closes the connection as idle. */
export const keepAliveMs = 15_000

const complete = 'event: complete\ndata: \n\n'
const comment = ':\n\n'

/** The answer of a query or mutation as a complete stream. */
export const eventsOf = ({ body }: GraphqlResponse): Buffer =>
  Buffer.concat([frame(bodyBytes(body), null), Buffer.from(complete)])

interface AskedStream {
  readonly asked: GraphqlRequest
  readonly owner: StreamOwner
  readonly credentials: Credentials
}

/**
 * Opens a stream on the connection. Resolves with null once its response has begun, or with the refusal of the request.
 */
export function openEventStream(
  {
    request: {
      headers: { 'last-event-id': lastId },
      socket,
    },
    response: raw,
    headers,
  }: HttpCall,
  { open, sessions, rounds, carriesStreams }: LiveStreams,
  answers: ByteBudget,
  { asked, owner, credentials }: AskedStream,
): Promise<GraphqlResponse | null> {
  const unsent = answers.open(owner)
  return new Promise((resolve) => {
    let leave = (): void => undefined
    let hasBegun = false
    const begin = (): void => {
      if (hasBegun) return
      hasBegun = true
      // In one call: headers that are set individually are kept as long as the stream.
      raw.writeHead(200, [...headers, 'content-type', eventStreamType, 'x-accel-buffering', 'no'])
      raw.flushHeaders()
      leave = joinAll(leave, rounds(keepAlive), carriesStreams(socket))
      resolve(null)
    }
    const keepAlive = (): void => {
      if (sink.isWritable()) raw.write(comment)
    }
    const sink: StreamSink = {
      isWritable: () => !raw.destroyed && !raw.writableNeedDrain,
      next: (answer) => {
        begin()
        const bytes = frameOf(answer)
        // A client that reads at once has no unsent bytes.
        if (!raw.write(bytes)) unsent.force(bytes.length)
      },
      unchanged: begin,
      failed: (response) => {
        close()
        if (!hasBegun && response.outcome !== 'failed') {
          // The connection continues without the stream.
          raw.off('close', gone)
          return resolve(response)
        }
        begin()
        leave()
        if (!raw.destroyed) raw.end(eventsOf(response))
      },
      stopped: () => {
        begin()
        close()
        // Without `complete`: the client reconnects.
        if (!raw.destroyed) raw.end()
      },
    }
    const opened = open(asked, owner, { lastId: typeof lastId === 'string' ? lastId : null }, sink)
    if ('outcome' in opened) return resolve(opened)
    const stream: LiveStream = opened
    const close = (): void => {
      stream.close()
      leave()
    }
    const refused = (refusal: CredentialRefusal): void => sink.failed(refusalResponse(refusal))
    leave = sessions.open(credentials, refused)
    raw.on('drain', () => {
      unsent.release()
      stream.ready()
    })
    const gone = (): void => {
      begin()
      close()
      unsent.release()
    }
    raw.once('close', gone)
    if (socket.destroyed) gone()
  })
}

const joinAll =
  (...leaves: readonly (() => void)[]): (() => void) =>
  () => {
    for (const leave of leaves) leave()
  }

/** Frames of answers that several streams share. */
const frames = new WeakMap<SharedAnswer, Buffer>()

function frameOf(answer: SharedAnswer): Buffer {
  const known = frames.get(answer)
  if (known !== undefined) return known
  const made = frame(answer.body, answer.id)
  frames.set(answer, made)
  return made
}

/**
 * One event `next` (HTML standard, server-sent events). JSON printed by Postgres may contain line breaks, between
 * tokens only: each line becomes a data line, which the reader joins again.
 */
function frame(body: Buffer, id: string | null): Buffer {
  const head = id === null ? 'event: next\ndata: ' : `id: ${id}\nevent: next\ndata: `
  return Buffer.concat([Buffer.from(head), onLines(body), Buffer.from('\n\n')])
}

const [lineFeed, carriageReturn] = [10, 13]

function onLines(body: Buffer): Buffer {
  if (!body.includes(lineFeed) && !body.includes(carriageReturn)) return body
  return Buffer.from(
    body
      .toString()
      .split(/\r\n|\r|\n/)
      .join('\ndata: '),
  )
}
