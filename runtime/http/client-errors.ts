import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { originHeaders } from './cors.ts'
import { HttpFailure, type FailureCode } from './failures.ts'

/** An answer to what never became a request. */
export interface BareAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: object
}

/** Node's own refusals (Node manual, Event 'clientError'); everything else is no HTTP at all. */
const codes: Readonly<Record<string, FailureCode>> = {
  HPE_HEADER_OVERFLOW: 'HEADERS_TOO_LARGE',
  ERR_HTTP_REQUEST_TIMEOUT: 'REQUEST_TIMEOUT',
}

/** A connection that is closed while bytes are unread takes its last answer along: they are read for this long. */
const lingerMs = 1_000

/**
 * Makes what answers requests that Node refuses before anybody has seen them, and closes their connections. Pages of
 * every origin may read the answer, or they would take it for a network that is down.
 */
export function answerClientErrors(
  render: (failure: HttpFailure) => BareAnswer,
): (error: Error & { readonly code?: string }, socket: Socket) => void {
  return (error, socket) => {
    // What still comes in is refused again, and was answered.
    if (socket.writableEnded) return
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy()
      return
    }
    socket.end(written(render(new HttpFailure(codes[error.code ?? ''] ?? 'REQUEST_MALFORMED'))))
    setTimeout(() => socket.destroy(), lingerMs).unref()
  }
}

function written({ status, headers, body }: BareAnswer): string {
  const text = JSON.stringify(body)
  const lines = Object.entries({
    ...originHeaders,
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(text)),
    connection: 'close',
    ...headers,
  }).map(([name, value]) => `${name}: ${value}`)
  return [`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`, ...lines, '', text].join('\r\n')
}
