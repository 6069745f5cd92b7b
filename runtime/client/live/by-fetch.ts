import { answerOf, headersOf, type GraphqlErrorEntry } from '../graphql.ts'
import { readWhole, unreachable } from '../http.ts'
import { isFields, parseJson } from '../json.ts'
import { endOfErrors, endOfFailure, lost, type End } from './end.ts'
import { createEventReader, type StreamEvent } from './event-stream.ts'
import { watchPulse } from './pulse.ts'
import type { StreamSink, Transport, TransportParts } from './transport.ts'

/** Server-Sent Events, a request for each stream: the distinct connections mode of GraphQL over Server-Sent Events. */
export function createEventTransport(parts: TransportParts): Transport {
  return async ({ body, token, eventId }, sink, signal) => {
    const leave = new AbortController()
    const abort = (): void => leave.abort()
    signal.addEventListener('abort', abort)
    const pulse = watchPulse(parts.environment, parts.waking, { dead: abort })
    try {
      const headers = headersOf(parts.key, token, 'text/event-stream')
      const response = await parts.fetch(`${parts.url}/graphql/v1`, {
        method: 'POST',
        headers: eventId === '' ? headers : { ...headers, 'last-event-id': eventId },
        body,
        signal: leave.signal,
      })
      if (!isStream(response) || response.body === null) return await refusedBy(response)
      sink.connected()
      return await readStream(response.body, sink, pulse.heard)
    } catch (cause) {
      return endOfFailure(unreachable(cause))
    } finally {
      pulse.stop()
      signal.removeEventListener('abort', abort)
      abort()
    }
  }
}

const isStream = ({ ok, headers }: Response): boolean =>
  ok && headers.get('content-type')?.startsWith('text/event-stream') === true

/** An answer that is not a stream: a refusal, or the page of a proxy. */
async function refusedBy(response: Response): Promise<End> {
  const received = await readWhole(response)
  try {
    const { error } = answerOf(received)
    const waitMs = (received.retryAfter ?? 0) * 1000
    return error === null ? noStream() : endOfErrors(error.errors, received.status, waitMs)
  } catch (thrown) {
    return endOfFailure(thrown)
  }
}

const noStream = (): End => lost('bad_answer', 'The service sent something else than a stream')

async function readStream(body: ReadableStream<Uint8Array>, sink: StreamSink, heard: () => void): Promise<End> {
  let end: End | null = null
  const push = createEventReader((event) => {
    end ??= endOf(event, sink)
  })
  const decoder = new TextDecoder()
  const reader = body.getReader()
  for (;;) {
    const { value, done } = await reader.read()
    if (done) return end ?? lost('network_failure', 'The stream broke off')
    heard()
    push(decoder.decode(value, { stream: true }))
    if (end !== null) return end
  }
}

/** Passes on an answer; returns the end if the event is one. */
function endOf({ type, data, id }: StreamEvent, sink: StreamSink): End | null {
  if (type === 'complete') return { kind: 'completed' }
  if (type !== 'next') return null
  const answer = parseJson(data)
  if (!isFields(answer)) return noStream()
  const errors = answer['errors'] as readonly GraphqlErrorEntry[] | undefined
  if (errors !== undefined) return endOfErrors(errors)
  sink.next(answer, id)
  return null
}
