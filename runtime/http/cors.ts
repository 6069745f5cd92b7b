import type { IncomingMessage } from 'node:http'

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
 * Headers that allow pages to call (Fetch standard, section CORS protocol), names and values by turns. Access does not
 * depend on cookies: a caller must know a key, so by default the origin does not matter. Every answer carries these
 * headers, including failures and answers before all hooks, else a page could not read them. With a list only an origin
 * on it is named, and answers vary by it.
 */
export function originHeaders(origin: string | undefined, origins: Origins): readonly string[] {
  if (origins === null) return openToAll
  if (origin === undefined || !origins.includes(origin)) return []
  return ['access-control-allow-origin', origin, 'access-control-expose-headers', exposedHeaders]
}

/** The same for answers for which the caller's origin is unknown. */
export const openHeaders = { 'access-control-allow-origin': '*', 'access-control-expose-headers': exposedHeaders }
const openToAll = Object.entries(openHeaders).flat()

/** The headers of the answer 204 to an OPTIONS request: every method and header is allowed. */
export const preflightHeaders = ({ headers }: IncomingMessage) => ({
  'access-control-allow-methods': answeredMethods,
  'access-control-allow-headers': allowedHeaders(headers['access-control-request-headers']),
  'access-control-max-age': daySeconds,
  vary: 'origin, access-control-request-headers',
})

/** Libraries add their own headers; requested ones are allowed if they are a list of names. */
function allowedHeaders(asked: string | undefined): string {
  return asked !== undefined && /^[\w!#$%&'*+.^`|~, -]{1,2048}$/.test(asked) ? asked : usualHeaders
}
