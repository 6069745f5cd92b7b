/** Cookies as a browser keeps them for the pages of several hosts (RFC 6265 section 5.3), as scripts see them. */
export interface CookieJar {
  /** The `document` of a page; what was written to its cookies, in order, is in `written`. */
  readonly page: (url: string) => { cookie: string; readonly written: readonly string[] }
  readonly delete: (name: string) => void
}

interface Kept {
  readonly name: string
  readonly value: string
  readonly domain: string
  readonly hostOnly: boolean
}

export function createCookieJar(): CookieJar {
  let kept: readonly Kept[] = []
  const write = (host: string, secure: boolean, text: string): void => {
    const [pair = '', ...attributes] = text.split(';').map((part) => part.trim())
    const given = new Map(attributes.map((part) => [part.split('=')[0]?.toLowerCase(), part.split('=')[1] ?? '']))
    const domain = given.get('domain') ?? host
    const tooLong = pair.length > 4096
    if (!covers(domain, host) || (given.has('secure') && !secure) || tooLong) return
    const [name, value] = [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]
    const cookie: Kept = { name, value, domain, hostOnly: !given.has('domain') }
    const isSame = (other: Kept): boolean =>
      other.name === name && other.domain === domain && other.hostOnly === cookie.hostOnly
    const others = kept.filter((other) => !isSame(other))
    kept =
      given.get('max-age') === '0' ? others : kept.some(isSame) ? replaced(kept, isSame, cookie) : [...kept, cookie]
  }
  return {
    page: (url) => {
      const { hostname, protocol } = new URL(url)
      const written: string[] = []
      return {
        written,
        get cookie() {
          const seen = kept.filter((one) => (one.hostOnly ? one.domain === hostname : covers(one.domain, hostname)))
          return seen.map(({ name, value }) => `${name}=${value}`).join('; ')
        },
        set cookie(text) {
          written.push(text)
          write(hostname, protocol === 'https:', text)
        },
      }
    },
    delete: (name) => {
      kept = kept.filter((cookie) => cookie.name !== name)
    },
  }
}

const covers = (domain: string, host: string): boolean => host === domain || host.endsWith(`.${domain}`)

const replaced = (kept: readonly Kept[], isSame: (one: Kept) => boolean, cookie: Kept): readonly Kept[] =>
  kept.map((one) => (isSame(one) ? cookie : one))
