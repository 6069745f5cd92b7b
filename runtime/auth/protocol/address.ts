import { isIP } from 'node:net'

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
