import type { IncomingMessage, ServerResponse } from 'node:http'
import { pipeline } from 'node:stream'
import { LongBody, longBytes, streamOf } from './bodies.ts'
import { originHeaders, type Origins, preflightHeaders } from './cors.ts'
import { requestIdOf } from './request-context.ts'

/**
 * A request that is answered on Node's objects: Fastify's own request, reply, hooks and parser take a third of the time
 * of a small request.
 */
export interface HttpCall {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly id: string
  /** When its headers had arrived, on the monotonic clock in milliseconds. */
  readonly arrivedAt: number
  /** Further headers of its answer: names and values by turns, as Node writes them. */
  readonly headers: string[]
  readonly observeHttp: ObserveAnswer | null
}

/** Receives a call with the status of its answer, when that is passed to Node. */
type ObserveAnswer = (call: HttpCall, status: number) => void

export function newCall(
  request: IncomingMessage,
  response: ServerResponse,
  { origins, observeHttp }: { readonly origins: Origins; readonly observeHttp: ObserveAnswer | null },
): HttpCall {
  const arrivedAt = performance.now()
  const id = requestIdOf(request)
  const headers = ['x-request-id', id, ...originHeaders(request.headers.origin, origins)]
  return { request, response, id, arrivedAt, headers, observeHttp }
}

/** Answers an OPTIONS request. */
export function sendPreflight(call: HttpCall): void {
  const { request, response, headers, observeHttp } = call
  response.writeHead(204, [...headers, ...Object.entries(preflightHeaders(request)).flat()]).end()
  observeHttp?.(call, 204)
}

/** Sends the answer, and a long one in pieces; nothing if the client has left or was answered during shutdown. */
export function sendAnswer(
  call: HttpCall,
  status: number,
  contentType: string,
  body: string | Buffer | LongBody,
): void {
  const { response, headers, observeHttp } = call
  if (response.destroyed || response.headersSent) return
  const long = body instanceof LongBody || body.length < longBytes ? body : new LongBody([body])
  const bytes = long instanceof LongBody ? long.bytes : Buffer.byteLength(long)
  headers.push('content-type', contentType, 'content-length', String(bytes))
  response.writeHead(status, headers)
  if (long instanceof LongBody) {
    pipeline(streamOf(long), response, () => observeHttp?.(call, status))
  } else {
    response.end(long)
    observeHttp?.(call, status)
  }
}
