import { isIP } from 'node:net'
import type { AuthSettings } from '../settings/setting-keys.ts'
import { holdsOddCharacters, isLoopback, isWeb, readAddress, type Address } from '../protocol/address.ts'
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
  if (asked.length > longest || holdsOddCharacters(asked) || asked.startsWith('//')) return refused
  if (!/^[a-z][a-z0-9+.-]*:/i.test(asked)) return { kind: 'allowed', url: settings.site_url }
  // Of an application's own scheme nothing else is the site: a host there names a page, and not whose it is.
  if (withoutFragment(asked) === settings.site_url) return { kind: 'allowed', url: asked }
  const address = readAddress(asked)
  if (address === null) return refused
  const allowed = isSameSite(address, settings.site_url) || isListed(address, settings.redirect_allow_list)
  return allowed ? { kind: 'allowed', url: asked } : refused
}

/** The same scheme, host and port; on the machine itself any port. */
function isSameSite({ parsed }: Address, siteUrl: string): boolean {
  const site = new URL(siteUrl)
  if (!isWeb(parsed) || parsed.protocol !== site.protocol || parsed.hostname !== site.hostname) return false
  return parsed.port === site.port || isLoopback(site.hostname)
}

function isIpLiteral(hostname: string): boolean {
  return hostname.startsWith('[') || isIP(hostname) !== 0
}

const withoutFragment = (address: string): string => address.split('#', 1)[0] ?? ''

/** Both as it was written and as it is read, each without its fragment. */
function isListed({ raw, parsed }: Address, list: readonly string[]): boolean {
  if (isIpLiteral(parsed.hostname) && !isLoopback(parsed.hostname)) return false
  const written = withoutFragment(raw)
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
