import type { SessionJson } from '../protocol/records.ts'

/** Addresses of redirects at the end of a flow (spec/auth.md 4.13 and 6.4). */

type Fields = Readonly<Record<string, string>>

const queryText = (fields: Fields): string => new URLSearchParams(fields).toString()

/**
 * Members that clients read from a query besides those written here: a value of an earlier attempt would be mistaken
 * for the present one. `type` and `message` are excluded, because applications use these names.
 */
const readFromQuery: ReadonlySet<string> = new Set([
  'code',
  'error',
  'error_code',
  'error_description',
  'access_token',
  'refresh_token',
  'expires_at',
  'expires_in',
  'token_type',
  'provider_token',
  'provider_refresh_token',
])

/** The destination without its fragment, and without members of the query that the answer replaces. */
function pageOf(destination: string, fields: Fields): string {
  const page = destination.split('#', 1)[0] ?? ''
  const at = page.indexOf('?')
  if (at === -1) return page
  const members = page.slice(at + 1).split('&')
  const kept = members.filter((member) => {
    const name = memberName(member)
    return !readFromQuery.has(name) && !Object.hasOwn(fields, name)
  })
  if (kept.length === members.length) return page
  return kept.length === 0 ? page.slice(0, at) : `${page.slice(0, at)}?${kept.join('&')}`
}

const memberName = (member: string): string => [...new URLSearchParams(`?${member}`).keys()][0] ?? ''

/** Sets fields of the query and keeps every other member, letter by letter. */
export function withQuery(destination: string, fields: Fields): string {
  const page = pageOf(destination, fields)
  return `${page}${page.includes('?') ? '&' : '?'}${queryText(fields)}`
}

/** Puts fields into the fragment, which servers and logs do not see; `sb` marks it as ours. */
export function withFragment(destination: string, fields: Fields): string {
  return `${pageOf(destination, {})}#${fragmentOf(fields)}`
}

function fragmentOf(fields: Fields): string {
  const sorted = Object.entries({ ...fields, sb: '' }).sort(([a], [b]) => (a < b ? -1 : 1))
  return queryText(Object.fromEntries(sorted))
}

/** Sets the same fields for the page and the server behind it. */
export function withBoth(destination: string, fields: Fields): string {
  return `${withQuery(destination, fields)}#${fragmentOf(fields)}`
}

export function withTokens(destination: string, session: SessionJson, more: Fields): string {
  const { access_token, expires_at, expires_in, refresh_token } = session
  return withFragment(destination, {
    access_token,
    expires_at: String(expires_at),
    expires_in: String(expires_in),
    refresh_token,
    token_type: 'bearer',
    ...more,
  })
}

/** RFC 6749 section 4.1.2.1 by status; other statuses have no such code. */
const errorWords: Readonly<Record<number, string>> = {
  400: 'invalid_request',
  401: 'unauthorized_client',
  403: 'access_denied',
  500: 'server_error',
  503: 'temporarily_unavailable',
}

/** Refusals about the person, with any status. */
const denials: ReadonlySet<string> = new Set(['signup_disabled', 'user_banned', 'provider_email_needs_verification'])

interface Refusal {
  readonly status: number
  readonly code: string
  readonly message: string
}

export function errorFields({ status, code, message }: Refusal): Fields {
  const word = denials.has(code) ? 'access_denied' : errorWords[status]
  return { ...(word !== undefined && { error: word }), error_code: code, error_description: message }
}
