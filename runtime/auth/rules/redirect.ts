import { isIP } from 'node:net'
import type { AuthSettings } from '../settings/setting-keys.ts'
import { holdsOddCharacters, isLoopback, isWeb, readAddress, type Address } from '../protocol/input.ts'

/**
 * Globs of the allow list (spec/auth.md 8): `*` matches within a segment (segments end at `.` and `/`), `**` anything,
 * `?` one character that ends no segment, `[abc]` and `[!a-z]` one of a class, `{a,b}` one of several. A backslash
 * escapes a character. The time to match grows with text times pattern in all cases.
 */

type Token =
  | { readonly kind: 'character'; readonly accepts: (character: string) => boolean }
  | { readonly kind: 'any'; readonly accepts: (character: string) => boolean }

const isSeparator = (character: string): boolean => character === '.' || character === '/'
const inSegment = (character: string): boolean => !isSeparator(character)
const anything = (): boolean => true
const exactly =
  (wanted: string) =>
  (character: string): boolean =>
    character === wanted

/** More alternatives do not occur in a person's pattern. */
const mostAlternatives = 256

/** True if the pattern matches the whole text; a malformed pattern matches nothing. */
export function matchesGlob(pattern: string, text: string): boolean {
  return expand(pattern)?.some((one) => matchesTokens(globTokens(one), text)) ?? false
}

/** The patterns that braces expand to; null if the braces do not close or expand to too many. */
export function expand(pattern: string): readonly string[] | null {
  const open = indexOutside(pattern, '{', 0)
  if (open === -1) return [pattern]
  const close = closingBrace(pattern, open)
  if (close === -1) return null
  const [head, tail] = [pattern.slice(0, open), pattern.slice(close + 1)]
  const expanded = choices(pattern.slice(open + 1, close)).map((choice) => expand(head + choice + tail))
  const all = expanded.flatMap((list) => list ?? [])
  return expanded.includes(null) || all.length > mostAlternatives ? null : all
}

/** Index of a character without a preceding backslash. */
function indexOutside(text: string, wanted: string, from: number): number {
  for (let at = from; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1
    else if (text[at] === wanted) return at
  }
  return -1
}

function closingBrace(pattern: string, open: number): number {
  let depth = 0
  for (let at = open; at < pattern.length; at += 1) {
    if (pattern[at] === '\\') at += 1
    else if (pattern[at] === '{') depth += 1
    else if (pattern[at] === '}' && --depth === 0) return at
  }
  return -1
}

/** The alternatives of a brace, except commas of inner braces. */
function choices(inner: string): readonly string[] {
  const found: string[] = []
  let [depth, start] = [0, 0]
  for (let at = 0; at < inner.length; at += 1) {
    const character = inner[at]
    if (character === '\\') at += 1
    else if (character === '{') depth += 1
    else if (character === '}') depth -= 1
    else if (character === ',' && depth === 0) {
      found.push(inner.slice(start, at))
      start = at + 1
    }
  }
  return [...found, inner.slice(start)]
}

/** Null if a class does not close. */
function globTokens(pattern: string): readonly Token[] | null {
  const tokens: Token[] = []
  for (let at = 0; at < pattern.length; at += 1) {
    const character = pattern[at] ?? ''
    if (character === '*') {
      const double = pattern[at + 1] === '*'
      if (double) at += 1
      tokens.push({ kind: 'any', accepts: double ? anything : inSegment })
    } else if (character === '[') {
      const close = indexOutside(pattern, ']', at + 1)
      if (close === -1) return null
      tokens.push({ kind: 'character', accepts: characterClass(pattern.slice(at + 1, close)) })
      at = close
    } else if (character === '?') tokens.push({ kind: 'character', accepts: inSegment })
    else {
      if (character === '\\') at += 1
      tokens.push({ kind: 'character', accepts: exactly(pattern[at] ?? '\\') })
    }
  }
  return tokens
}

/** A class never accepts a separator that it does not name, so that a negation stays within its segment. */
function characterClass(inner: string): (character: string) => boolean {
  const negated = inner.startsWith('!')
  const members = negated ? inner.slice(1) : inner
  const ranges = [...members.matchAll(/\\?(.)-\\?(.)|\\?(.)/gs)].map(([, from, to, single]) => ({
    from: single ?? from ?? '',
    to: single ?? to ?? '',
  }))
  const isMember = (character: string): boolean => ranges.some(({ from, to }) => from <= character && character <= to)
  return (character) => (negated ? inSegment(character) && !isMember(character) : isMember(character))
}

function matchesTokens(tokens: readonly Token[] | null, text: string): boolean {
  if (tokens === null) return false
  let reached = skipAny(tokens, new Set([0]))
  for (const character of text) {
    const next = new Set<number>()
    for (const at of reached) {
      const token = tokens[at]
      if (token?.accepts(character) === true) next.add(token.kind === 'any' ? at : at + 1)
    }
    reached = skipAny(tokens, next)
    if (reached.size === 0) return false
  }
  return reached.has(tokens.length)
}

/** A token that matches any number of characters also matches none. */
function skipAny(tokens: readonly Token[], places: ReadonlySet<number>): ReadonlySet<number> {
  const all = new Set(places)
  for (const at of all) if (tokens[at]?.kind === 'any') all.add(at + 1)
  return all
}

/** Allowed redirects (spec/auth.md 8). */
type RedirectSettings = Pick<AuthSettings, 'site_url' | 'redirect_allow_list'>

type Destination =
  /** The destination: the requested one, or the site URL if none was requested. */
  { readonly kind: 'allowed'; readonly url: string } | { readonly kind: 'refused' }

const refused: Destination = { kind: 'refused' }

/** Links have no need to be longer; matching costs time for each character. */
const longest = 4096

/**
 * Decides about a requested destination. A value that is not an absolute address, such as a path or a mail address,
 * counts as absent; an address must belong to the site or the list.
 */
export function judgeRedirect(asked: string, settings: RedirectSettings): Destination {
  if (asked === '') return { kind: 'allowed', url: settings.site_url }
  if (asked.length > longest || holdsOddCharacters(asked) || asked.startsWith('//')) return refused
  if (!/^[a-z][a-z0-9+.-]*:/i.test(asked)) return { kind: 'allowed', url: settings.site_url }
  // With a custom scheme only the exact address is the site: a host there names a page.
  if (withoutFragment(asked) === settings.site_url) return { kind: 'allowed', url: asked }
  const address = readAddress(asked)
  if (address === null) return refused
  const allowed = isSameSite(address, settings.site_url) || isListed(address, settings.redirect_allow_list)
  return allowed ? { kind: 'allowed', url: asked } : refused
}

/** The same scheme, host and port; on localhost any port. */
function isSameSite({ parsed }: Address, siteUrl: string): boolean {
  const site = new URL(siteUrl)
  if (!isWeb(parsed) || parsed.protocol !== site.protocol || parsed.hostname !== site.hostname) return false
  return parsed.port === site.port || isLoopback(site.hostname)
}

function isIpLiteral(hostname: string): boolean {
  return hostname.startsWith('[') || isIP(hostname) !== 0
}

const withoutFragment = (address: string): string => address.split('#', 1)[0] ?? ''

/** Both as written and as parsed, each without its fragment. */
function isListed({ raw, parsed }: Address, list: readonly string[]): boolean {
  if (isIpLiteral(parsed.hostname) && !isLoopback(parsed.hostname)) return false
  const written = withoutFragment(raw)
  const read = normalForm(parsed, written)
  return list.some((entry) => entry === written || (matchesGlob(entry, written) && matchesGlob(entry, read)))
}

/**
 * The parser adds a path after a bare host, and drops the default port: both are equivalent, so both stay as written.
 * Before a query the added slash marks the end of the host for a pattern.
 */
function normalForm(parsed: URL, written: string): string {
  const authority = /^[a-z0-9+.-]+:\/\/[^/?#]*/.exec(written)?.[0]
  if (authority === undefined) return parsed.href.split('#', 1)[0] ?? ''
  return written === authority ? written : `${authority}${parsed.pathname}${parsed.search}`
}
