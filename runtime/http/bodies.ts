import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { ByteBudget } from '../lib/byte-budget.ts'
import { HttpFailure } from './failures.ts'

/** A body that is not longer is not counted: almost none is. */
const uncounted = 16_384

/**
 * Counts bodies from their first byte until their request is answered, and refuses those that there is no room for: thousands of
 * clients may send one at a time.
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
    // The reader of the body listens as soon as this is done, before any byte of it comes.
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
