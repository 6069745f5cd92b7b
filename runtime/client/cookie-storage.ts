import { decodeValue, encodeValue, isChunkOf, joinChunks, toChunks, type CookieEncoding } from './cookie-format.ts'
import { deletion, readCookies, setting, type CookieAttributes } from './cookie-text.ts'
import { browser } from './environment.ts'
import type { AuthStorage } from './storage.ts'

export interface CookieStorageOptions {
  /** A parent domain whose subdomains share the session, `example.com`; by default only the page's host has it. */
  readonly domain?: string
  /** Sent over https only. The default follows the page's own protocol. */
  readonly secure?: boolean
  /** Default: `/`. */
  readonly path?: string
  /** Default: `lax`. */
  readonly sameSite?: 'lax' | 'strict' | 'none'
  /** `raw` writes the older format of @supabase/ssr. Both are read. */
  readonly encoding?: CookieEncoding
  /** The document of the cookies; by default the page. */
  readonly document?: { cookie: string }
}

/** With more, a request's cookies approach the limit of 8 KiB that many servers have for all headers. */
const manyChunks = 5

/**
 * Keeps sessions in cookies, in the format of @supabase/ssr: subdomains can share them, and servers with that package
 * read them. They are not HttpOnly, because the page must read them.
 */
export function cookieStorage(options: CookieStorageOptions = {}): AuthStorage {
  const page = options.document ?? browser.document
  if (page === undefined) throw new TypeError('cookieStorage needs a document; on a server use @supabase/ssr')
  const { domain, secure = browser.location?.protocol === 'https:', path = '/', sameSite = 'lax' } = options
  const shared: CookieAttributes = { path, sameSite, domain, secure }
  const hostOnly: CookieAttributes = { ...shared, domain: undefined }
  const read = (): ReadonlyMap<string, string> => readCookies(page.cookie)
  const write = (text: string): void => {
    page.cookie = text
  }
  // A host-only cookie from before the domain was set would hide the shared one.
  const clearTwin = (name: string): void => (domain === undefined ? undefined : write(deletion(name, hostOnly)))
  const remove = (name: string): void => {
    clearTwin(name)
    write(deletion(name, shared))
  }
  return {
    getItem: (key) => {
      const cookies = read()
      const joined = joinChunks(key, (name) => cookies.get(name))
      const value = joined === null ? null : decodeValue(joined)
      if (joined !== null && value === null) console.warn(`catalograph: the cookies of ${key} do not fit together`)
      return value
    },
    setItem: (key, value) => {
      const chunks = toChunks(key, encodeValue(value, options.encoding ?? 'base64url'))
      const kept = new Set(chunks.map(({ name }) => name))
      const stale = [...read().keys()].filter((name) => isChunkOf(name, key) && !kept.has(name))
      const texts = chunks.map((chunk) => setting(chunk, shared))
      stale.forEach(remove)
      for (const [index, { name }] of chunks.entries()) {
        clearTwin(name)
        write(texts[index] ?? '')
      }
      const written = read()
      if (chunks.some((chunk) => written.get(chunk.name) !== chunk.value))
        console.warn(`catalograph: the browser did not keep the cookies of ${key}: do domain and secure fit the page?`)
      if (chunks.length > manyChunks)
        console.warn(`catalograph: ${key} fills ${chunks.length} cookies; servers may refuse requests with that many`)
    },
    removeItem: (key) => {
      for (const name of read().keys()) if (isChunkOf(name, key)) remove(name)
    },
  }
}
