import type { FastifyReply, FastifyRequest } from 'fastify'

const usualHeaders =
  'authorization, apikey, content-type, accept, x-client-info, x-client-ip, x-jwt-aud, x-use-cookie, ' +
  'x-supabase-api-version, x-request-id, prefer, catalograph-position'
const answeredMethods = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS'
const exposedHeaders =
  'x-request-id, retry-after, allow, x-total-count, link, x-supabase-api-version, x-sb-error-code, sb-auth-user-id, ' +
  'sb-auth-session-id, server-timing, catalograph-position'
const daySeconds = '86400'

/** The origins whose pages may read answers; null: all. */
export type Origins = readonly string[] | null

/**
 * Allows pages to call (Fetch standard, section CORS protocol). Access does not depend on cookies: a caller must know a
 * key, so by default the origin does not matter. Every answer carries these headers, including failures and answers
 * before all hooks, else a page could not read them. With a list only an origin on it is named.
 */
export function openToOrigins(reply: FastifyReply, origin: string | undefined, origins: Origins): FastifyReply {
  if (origins === null) {
    return reply.header('access-control-allow-origin', '*').header('access-control-expose-headers', exposedHeaders)
  }
  void reply.header('vary', 'origin')
  if (origin === undefined || !origins.includes(origin)) return reply
  return reply.header('access-control-allow-origin', origin).header('access-control-expose-headers', exposedHeaders)
}

/** The same for answers without a reply object, for which the caller's origin is unknown. */
export const openHeaders = { 'access-control-allow-origin': '*', 'access-control-expose-headers': exposedHeaders }

/** Answers an OPTIONS request: every method and header is allowed. */
export function answerPreflight(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  return reply
    .code(204)
    .header('access-control-allow-methods', answeredMethods)
    .header('access-control-allow-headers', allowedHeaders(request.headers['access-control-request-headers']))
    .header('access-control-max-age', daySeconds)
    .header('vary', 'origin, access-control-request-headers')
    .send()
}

/** Libraries add their own headers; requested ones are allowed if they are a list of names. */
function allowedHeaders(asked: string | undefined): string {
  return asked !== undefined && /^[\w!#$%&'*+.^`|~, -]{1,2048}$/.test(asked) ? asked : usualHeaders
}
