import { isUtf8 } from 'node:buffer'
import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { ByteBudget } from '../lib/byte-budget.ts'
import { HttpFailure } from './failures.ts'

/** A shorter body is not counted: almost all are shorter. */
const uncounted = 16_384

/**
 * Counts bodies from their first byte until their request is answered, and refuses those without room: thousands of
 * clients may send one at the same time.
 */
export function boundBodies(
  app: FastifyInstance,
  sourceOf: (request: FastifyRequest) => string,
  bodies: ByteBudget,
): void {
  app.addHook('preParsing', (request, reply, payload, done) => {
    if (isShort(request) || reply.raw.destroyed) return done(null, payload)
    const holding = bodies.open(sourceOf(request))
    let refused = false
    // The reader of the body listens right after this, before its first byte.
    payload.on('data', (chunk: Buffer) => {
      if (refused || holding.take(chunk.length)) return
      refused = true
      if (payload.listenerCount('error') > 0) payload.emit('error', new HttpFailure('OVERLOADED'))
      else request.raw.socket.destroy()
    })
    reply.raw.once('close', holding.release)
    done(null, payload)
  })
}

/** A request without a body has neither header (RFC 9112 section 6.3). */
function isShort({ headers }: FastifyRequest): boolean {
  const length = headers['content-length']
  return length === undefined ? headers['transfer-encoding'] === undefined : Number(length) <= uncounted
}

/** Accepted media types of a request's JSON, with the only character set of JSON (RFC 8259 section 8.1). */
const jsonMedia = /^application\/(?:graphql-response\+)?json(?: *; *charset="?utf-?8"?)? *;?$/i

/** Fastify caches the parser by the request's media type, except for `*`: then it parses the header each time. */
const readTypes = ['application/json', 'application/graphql-response+json', '*']

/**
 * Passes the bodies of a scope on as text, so that one reader parses them, once. Anything but uncompressed JSON in
 * UTF-8 is refused.
 */
export function acceptJsonText(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(readTypes, { parseAs: 'buffer' }, (request: FastifyRequest, body: Buffer, done) => {
    done(null, readJsonText(request.headers, body))
  })
}

/** The text of a body. @throws HttpFailure for anything but uncompressed JSON in UTF-8 */
export function readJsonText(
  headers: Pick<IncomingHttpHeaders, 'content-type' | 'content-encoding'>,
  body: Buffer,
): string {
  const encoding = headers['content-encoding'] ?? 'identity'
  if (!jsonMedia.test(headers['content-type'] ?? '') || encoding !== 'identity') {
    throw new HttpFailure('MEDIA_TYPE_UNSUPPORTED')
  }
  if (!isUtf8(body)) throw new HttpFailure('BODY_MALFORMED', 'The body is not UTF-8.')
  return body.toString('utf8')
}
