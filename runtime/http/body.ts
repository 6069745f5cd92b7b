import { isUtf8 } from 'node:buffer'
import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { HttpFailure } from './failures.ts'

/** Media types that a request's JSON may be sent as, with the one character set of JSON (RFC 8259 section 8.1). */
const jsonMedia = /^application\/(?:graphql-response\+)?json(?: *; *charset="?utf-?8"?)? *;?$/i

/** Fastify remembers by a request's media type what reads it, unless that is `*`: then it takes the header apart each time. */
const readTypes = ['application/json', 'application/graphql-response+json', '*']

/**
 * Hands the bodies of a scope over as text, so that one reader parses them, once. Anything but uncompressed JSON in
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
