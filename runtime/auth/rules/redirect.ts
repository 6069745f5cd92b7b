import { isIP } from 'node:net'
import type { AuthSettings } from '../settings/keys.ts'
import { matchesGlob } from './glob.ts'

/** Where people may be sent (spec/auth.md 8). */
export type RedirectSettings = Pick<AuthSettings, 'site_url' | 'redirect_allow_list'>

export type Destination =
  /** Where to send them: what was asked for, or the site URL when nothing was. */
  { readonly kind: 'allowed'; readonly url: string } | { readonly kind: 'refused' }

const refused: Destination = { kind: 'refused' }

/** No link that anybody needs is longer; matching costs time for each character. */
const longest = 4096

/**
 * Decides about a destination that was asked for. What is no absolute address, such as a path or a mail address, counts
 * as not asked; what is one has to be of the site itself or listed.
 */
export function judgeRedirect(asked: string, settings: RedirectSettings): Destination {
  if (asked === '') return { kind: 'allowed', url: settings.site_url }
  if (asked.length > longest || /[\s\\\p{Cc}]/u.test(asked) || asked.startsWith('//')) return refused
  if (!/^[a-z][a-z0-9+.-]*:/i.test(asked)) return { kind: 'allowed', url: settings.site_url }
  const address = readAddress(asked)
  if (address === null) return refused
  const allowed = isSameSite(address, settings.site_url) || isListed(address, settings.redirect_allow_list)
  return allowed ? { kind: 'allowed', url: asked } : refused
}

interface Address {
  readonly raw: string
  readonly parsed: URL
}

const forbiddenSchemes: ReadonlySet<string> = new Set(['javascript:', 'data:', 'vbscript:', 'file:', 'blob:', 'about:'])

/**
 * An address that is written as the parser reads it, or null. Everything that makes a parser see another host than a
 * person or a pattern does ends here: user names, digits for dots, other alphabets, missing slashes.
 */
function readAddress(raw: string): Address | null {
  if (!URL.canParse(raw)) return null
  const parsed = new URL(raw)
  if (forbiddenSchemes.has(parsed.protocol) || !raw.startsWith(parsed.protocol)) return null
  const authority = /^[a-z0-9+.-]+:\/\/([^/?#]*)/.exec(raw)?.[1] ?? ''
  if (parsed.username !== '' || parsed.password !== '' || authority.includes('@')) return null
  return isWeb(parsed) && !isPlainAuthority(authority, parsed) ? null : { raw, parsed }
}

const isWeb = ({ protocol }: URL): boolean => protocol === 'http:' || protocol === 'https:'

/**
 * RFC 3986 section 3.2 without user: labels of letters, digits and hyphens between dots, none of them empty (RFC 1035
 * section 2.3.1), or an IPv6 literal; then a port or none. So `*` where a pattern has a label stands for one.
 */
function isPlainAuthority(authority: string, parsed: URL): boolean {
  const [, host = '', port = ''] =
    /^([a-z0-9-]+(?:\.[a-z0-9-]+)*|\[[0-9a-f:.]+\])(?::(\d{1,5}))?$/i.exec(authority) ?? []
  const usual = parsed.protocol === 'https:' ? '443' : '80'
  return host.toLowerCase() === parsed.hostname && (port === usual ? '' : port) === parsed.port
}

/** The same scheme, host and port; on the machine itself any port. */
function isSameSite({ parsed }: Address, siteUrl: string): boolean {
  const site = new URL(siteUrl)
  if (!isWeb(parsed) || parsed.protocol !== site.protocol || parsed.hostname !== site.hostname) return false
  return parsed.port === site.port || isLoopback(site.hostname)
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || (isIP(hostname) === 4 && hostname.startsWith('127.'))
}

function isIpLiteral(hostname: string): boolean {
  return hostname.startsWith('[') || isIP(hostname) !== 0
}

/** Both as it was written and as it is read, each without its fragment. */
function isListed({ raw, parsed }: Address, list: readonly string[]): boolean {
  if (isIpLiteral(parsed.hostname) && !isLoopback(parsed.hostname)) return false
  const written = raw.split('#', 1)[0] ?? ''
  const read = normalForm(parsed, written)
  return list.some((entry) => entry === written || (matchesGlob(entry, written) && matchesGlob(entry, read)))
}

/**
 * The parser adds a path where nothing follows the host, and drops the usual port: no difference, so both stay as they
 * were written. Before a query the added slash shows a pattern where the host ends.
 */
function normalForm(parsed: URL, written: string): string {
  const authority = /^[a-z0-9+.-]+:\/\/[^/?#]*/.exec(written)?.[0]
  if (authority === undefined) return parsed.href.split('#', 1)[0] ?? ''
  return written === authority ? written : `${authority}${parsed.pathname}${parsed.search}`
}
