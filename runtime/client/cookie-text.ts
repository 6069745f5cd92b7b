import type { Cookie } from './cookie-format.ts'

/** Reading and writing `document.cookie` (RFC 6265 sections 4.1 and 5.4). */

export interface CookieAttributes {
  readonly path: string
  readonly sameSite: 'lax' | 'strict' | 'none'
  readonly domain: string | undefined
  readonly secure: boolean
}

/** The maximum age of cookies in browsers: 400 days, in seconds. */
const longest = 34_560_000

/** The cookies of a page by name. Of equal names the first is the most specific. */
export function readCookies(text: string): ReadonlyMap<string, string> {
  const cookies = new Map<string, string>()
  for (const pair of text.split(';')) {
    const equals = pair.indexOf('=')
    const name = pair.slice(0, equals).trim()
    if (equals !== -1 && !cookies.has(name)) cookies.set(name, decoded(pair.slice(equals + 1).trim()))
  }
  return cookies
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value)
  } catch {
    return value
  }
}

export const setting = (cookie: Cookie, attributes: CookieAttributes): string => cookieText(cookie, longest, attributes)

export const deletion = (name: string, attributes: CookieAttributes): string =>
  cookieText({ name, value: '' }, 0, attributes)

function cookieText({ name, value }: Cookie, maxAge: number, attributes: CookieAttributes): string {
  const { path, sameSite, domain, secure } = attributes
  if (!/^[!-:<>-~]+$/.test(name)) throw new TypeError(`A cookie cannot have the name ${name}`)
  return (
    `${name}=${encodeURIComponent(value)}; Max-Age=${maxAge}` +
    (domain === undefined ? '' : `; Domain=${domain}`) +
    `; Path=${path}${secure ? '; Secure' : ''}; SameSite=${sameSite[0]?.toUpperCase()}${sameSite.slice(1)}`
  )
}
