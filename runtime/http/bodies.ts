import { isUtf8 } from 'node:buffer'
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyRequest, FastifyReply } from 'fastify'
import type { ByteBudget } from '../lib/byte-budget.ts'
import { HttpFailure, type HttpFailureCode } from './boundary.ts'

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
    const holding = bodies.open({ party: sourceOf(request) })
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
function isShort({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  const length = headers['content-length']
  return length === undefined ? headers['transfer-encoding'] === undefined : Number(length) <= uncounted
}

export interface BodyLimits {
  readonly bodyLimitBytes: number
  /** The memory that bodies share, and the key of a request's share. */
  readonly bodies: ByteBudget
  readonly sourceOf: (request: IncomingMessage) => string
}

/** Resolves with the body of a request. Rejects with an HttpFailure if it is too large or does not arrive. */
export const receiveBody = (request: IncomingMessage, response: ServerResponse, limits: BodyLimits): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const { bodyLimitBytes, bodies, sourceOf } = limits
    if (Number(request.headers['content-length'] ?? 0) > bodyLimitBytes) throw new HttpFailure('BODY_TOO_LARGE')
    const holding = isShort(request) ? null : bodies.open({ party: sourceOf(request) })
    if (holding !== null) response.once('close', holding.release)
    const chunks: Buffer[] = []
    let length = 0
    // The rest of a refused body is dropped: the connection ends with the answer.
    const refuse = (code: HttpFailureCode): void => {
      length = Infinity
      chunks.length = 0
      reject(new HttpFailure(code))
    }
    request.on('data', (chunk: Buffer) => {
      length += chunk.length
      if (length > bodyLimitBytes) refuse('BODY_TOO_LARGE')
      else if (holding?.take(chunk.length) === false) refuse('OVERLOADED')
      else chunks.push(chunk)
    })
    request.on('end', () => resolve(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks)))
    request.on('error', (error) => reject(error instanceof HttpFailure ? error : new HttpFailure('REQUEST_MALFORMED')))
  })

/** Accepted media types of a request's JSON, with the only character set of JSON (RFC 8259 section 8.1). */
const jsonMedia = /^application\/(?:graphql-response\+)?json(?: *; *charset="?utf-?8"?)? *;?$/i

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

/** A body in parts that are never joined: as one buffer it would be in memory twice. */
export class LongBody {
  readonly parts: readonly Part[]
  /** Its length in UTF-8. */
  readonly bytes: number

  constructor(parts: readonly Part[]) {
    this.parts = parts
    this.bytes = parts.reduce((sum, part) => sum + Buffer.byteLength(part), 0)
  }

  toString(): string {
    return this.parts.join('')
  }
}

type Part = string | Buffer

export const bodyBytes = (body: Part | LongBody): Buffer => {
  if (Buffer.isBuffer(body)) return body
  return body instanceof LongBody ? Buffer.concat(body.parts.map(bodyBytes)) : Buffer.from(body)
}

/** A longer body is sent in pieces, so that its reader's progress is visible. */
export const longBytes = 65_536

/** The size of one write to a socket. */
const pieceBytes = 65_536

export function streamOf({ parts }: LongBody): Readable {
  const pieces = piecesOf(parts)
  return new Readable({
    highWaterMark: pieceBytes,
    read() {
      const { done, value } = pieces.next()
      this.push(done === true ? null : value)
    },
  })
}

/**
 * Sends a long body in pieces, with its length in the header: for a single write the reader's progress is not visible.
 */
export function sendInPieces(app: FastifyInstance): void {
  app.addHook('onSend', (_request, reply, payload, done) => {
    if ((typeof payload !== 'string' && !Buffer.isBuffer(payload)) || payload.length < longBytes) done(null, payload)
    else done(null, sentInPieces(reply, new LongBody([payload])))
  })
}

function sentInPieces(reply: FastifyReply, body: LongBody): Readable {
  reply.header('content-length', String(body.bytes))
  return streamOf(body)
}

/** Short parts are sent together. */
function* piecesOf(parts: readonly Part[]): Generator<Buffer> {
  let gathered: Buffer[] = []
  let bytes = 0
  for (const part of parts) {
    for (const piece of typeof part === 'string' ? piecesOfText(part) : piecesOfBytes(part)) {
      gathered.push(piece)
      bytes += piece.length
      if (bytes < pieceBytes) continue
      yield together(gathered, bytes)
      gathered = []
      bytes = 0
    }
  }
  if (bytes > 0) yield together(gathered, bytes)
}

const together = (pieces: readonly Buffer[], bytes: number): Buffer =>
  pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces, bytes)

function* piecesOfBytes(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes)
}

const isFirstHalf = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff

/** A surrogate pair is not split. */
function* piecesOfText(text: string): Generator<Buffer> {
  for (let at = 0; at < text.length;) {
    let end = Math.min(text.length, at + pieceBytes)
    if (end < text.length && isFirstHalf(text.charCodeAt(end - 1))) end -= 1
    yield Buffer.from(text.slice(at, end))
    at = end
  }
}
