import { isIP } from 'node:net'
import type { AuthSettings } from '../settings/setting-keys.ts'
import { holdsOddCharacters, isLoopback, isWeb, readAddress, type Address } from '../protocol/address.ts'
import { matchesGlob } from './glob.ts'

/** Allowed redirects (spec/auth.md 8). */
export type RedirectSettings = Pick<AuthSettings, 'site_url' | 'redirect_allow_list'>

export type Destination =
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
