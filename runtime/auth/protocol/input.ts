import { isIP } from 'node:net'
import { refuse } from './errors.ts'
import type { DatabaseFailure } from '../../db/failures/failures.ts'
import type { Caller } from '../../contract/execution.ts'
import type { VerifyToken } from '../../identity/jwt.ts'
import { isJsonObject, type JsonObject } from '../../lib/json.ts'

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

export function isUuid(text: string): boolean {
  return uuidPattern.test(text)
}

/** An id in the path, in lower case. Throws 404 `validation_failed` if it is not a UUID (spec/auth.md 2.3). */
export function pathId(
  params: Readonly<Record<string, string>>,
  name: 'user_id' | 'factor_id' | 'identity_id',
): string {
  const id = params[name] ?? ''
  if (!isUuid(id)) throw refuse('validation_failed', { status: 404, message: `${name} must be an UUID` })
  return id.toLowerCase()
}

/** Redirect addresses (spec/auth.md 8). */

export interface Address {
  readonly raw: string
  readonly parsed: URL
}

const forbiddenSchemes: ReadonlySet<string> = new Set(['javascript:', 'data:', 'vbscript:', 'file:', 'blob:', 'about:'])

/**
 * An address whose text the parser reads literally, or null. Everything that makes a parser see another host than a
 * person or a pattern is refused: user names, digits for dots, other alphabets, missing slashes.
 */
export function readAddress(raw: string): Address | null {
  if (!URL.canParse(raw)) return null
  const parsed = new URL(raw)
  if (forbiddenSchemes.has(parsed.protocol) || !raw.startsWith(parsed.protocol)) return null
  const authority = /^[a-z0-9+.-]+:\/\/([^/?#]*)/.exec(raw)?.[1] ?? ''
  if (parsed.username !== '' || parsed.password !== '' || authority.includes('@')) return null
  return isWeb(parsed) && !isPlainAuthority(authority, parsed) ? null : { raw, parsed }
}

export const isWeb = ({ protocol }: URL): boolean => protocol === 'http:' || protocol === 'https:'

/**
 * RFC 3986 section 3.2 without user: labels of letters, digits and hyphens between dots, none of them empty (RFC 1035
 * section 2.3.1), or an IPv6 literal; then an optional port. So a `*` for a label in a pattern matches one label.
 */
function isPlainAuthority(authority: string, parsed: URL): boolean {
  const [, host = '', port = ''] =
    /^([a-z0-9-]+(?:\.[a-z0-9-]+)*|\[[0-9a-f:.]+\])(?::(\d{1,5}))?$/i.exec(authority) ?? []
  const usual = parsed.protocol === 'https:' ? '443' : '80'
  return host.toLowerCase() === parsed.hostname && (port === usual ? '' : port) === parsed.port
}

/** Blanks, backslashes and control characters: parsers drop or replace them in different ways. */
export const holdsOddCharacters = (text: string): boolean => /[\s\\\p{Cc}]/u.test(text)

export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || (isIP(hostname) === 4 && hostname.startsWith('127.'))
}

/** Pages of the admin endpoints (spec/auth.md 11). */
interface PageRequest {
  readonly page: number
  readonly perPage: number
}

/** Its form in a query. */
export interface GivenPage {
  readonly page: string | undefined
  readonly per_page: string | undefined
}

const usualPerPage = 50
const most = 1_000_000

/**
 * An absent or empty number means its default, as auth-js sends it; page 0 is the first one, as in GoTrue. Throws 400
 * `validation_failed`.
 */
export function readPage({ page = '', per_page: perPage = '' }: GivenPage): PageRequest {
  return { page: page === '0' ? 1 : numberOf('page', page, 1), perPage: numberOf('per_page', perPage, usualPerPage) }
}

function numberOf(name: string, text: string, usual: number): number {
  if (text === '') return usual
  const number = /^\d{1,7}$/.test(text) ? Number(text) : 0
  if (number >= 1 && number <= most) return number
  throw refuse('validation_failed', `Bad Pagination Parameters: ${name} must be a whole number from 1 to ${most}`)
}

/**
 * X-Total-Count and Link (RFC 8288). auth-js reads one character after the first `=` of each link, so `page` comes
 * first. `rest`: further parameters for the next page.
 */
export function pageHeaders(
  path: string,
  { page, perPage }: PageRequest,
  total: number,
  rest: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const last = Math.max(1, Math.ceil(total / perPage))
  const kept = new URLSearchParams(Object.entries(rest).filter(([, value]) => value !== '')).toString()
  const link = (to: number, rel: string): string =>
    `<${path}?page=${to}&per_page=${perPage}${kept === '' ? '' : `&${kept}`}>; rel="${rel}"`
  const links = [...(page < last ? [link(page + 1, 'next')] : []), link(last, 'last')]
  return { 'x-total-count': String(total), link: links.join(', ') }
}

/** The status that the owner's triggers choose by SQLSTATE PTnnn (spec/auth.md 2.4); null: another kind of failure. */
export function statusOfTrigger({ sqlstate }: DatabaseFailure): number | null {
  const status = /^PT([45]\d\d)$/.exec(sqlstate ?? '')?.[1]
  return status === undefined ? null : Number(status)
}

/** The project key is missing or invalid: answered like a gateway, in a separate form (spec/auth.md 2.1). */
export class KeyFailure extends Error {
  override readonly name = 'KeyFailure'
}

const read = new WeakMap<Caller, JsonObject>()

/** The claims of a verified token; a cached token has the same caller, whose claims are parsed once. */
export function claimsOf(caller: Caller): JsonObject {
  const known = read.get(caller)
  if (known !== undefined) return known
  const parsed: unknown = JSON.parse(caller.claims)
  const claims = isJsonObject(parsed) ? parsed : {}
  read.set(caller, claims)
  return claims
}

/** Checks that a text is a key of the project: a token of its secret that names no person. Throws KeyFailure. */
export async function checkApiKey(apikey: string, verify: VerifyToken): Promise<void> {
  if (apikey === '') throw new KeyFailure('No API key found in request')
  const verdict = await verify(apikey)
  if (verdict.kind === 'refused' || 'sub' in claimsOf(verdict.caller)) throw new KeyFailure('Invalid API key')
}
