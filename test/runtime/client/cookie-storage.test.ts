import { createStorageFromOptions } from '@supabase/ssr/dist/main/cookies.js'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { cookieStorage, type CookieStorageOptions } from '../../../runtime/client/client.ts'
import { createCookieJar, type CookieJar } from '../../support/cookie-jar.ts'

const key = 'sb-project-auth-token'
const url = 'https://app.example.com/'

/** A storage of the reference implementation on a page of a jar, for as long as it takes to ask it. */
const theirs = (page: { cookie: string }, options: CookieStorageOptions = {}) => {
  const { encoding = 'base64url', domain, secure } = options
  const cookieOptions = { ...(domain !== undefined && { domain }), ...(secure !== undefined && { secure }) }
  const onPage = async <T>(work: () => Promise<T>): Promise<T> => {
    vi.stubGlobal('window', { document: page })
    vi.stubGlobal('document', page)
    try {
      return await work()
    } finally {
      vi.unstubAllGlobals()
    }
  }
  const storage = () => createStorageFromOptions({ cookieEncoding: encoding, cookieOptions }, false).storage
  return {
    getItem: (name: string) => onPage(async () => storage().getItem(name)),
    setItem: (name: string, value: string) => onPage(async () => storage().setItem(name, value)),
    removeItem: (name: string) => onPage(async () => storage().removeItem(name)),
  }
}

const ours = (page: { cookie: string }, options: CookieStorageOptions = {}) =>
  cookieStorage({ secure: false, ...options, document: page })

/** The names of the cookies of a page that hold something. */
const names = (page: { readonly cookie: string }): readonly string[] =>
  page.cookie === '' ? [] : page.cookie.split('; ').map((pair) => pair.split('=')[0] ?? '')

const warnings: unknown[] = []
beforeEach(() => {
  warnings.length = 0
  vi.spyOn(console, 'warn').mockImplementation((message) => void warnings.push(message))
})
afterEach(() => vi.restoreAllMocks())

/**
 * Texts as sessions are: JSON of anything, from a few characters to several cookies, cut anywhere. Characters beyond
 * U+1FFFF are left out, since @supabase/ssr 0.10 loses them on writing.
 */
const sessionText = fc
  .tuple(fc.jsonValue(), fc.string({ unit: 'binary', maxLength: 8 }), fc.nat(1500), fc.nat(4000))
  .map(([value, piece, times, padding]) =>
    JSON.stringify({ value, long: piece.repeat(times), pad: 'x'.repeat(padding) }),
  )
  .filter((text) => !/[\u{20000}-\u{10ffff}]/u.test(text))

const encoding = fc.constantFrom('base64url' as const, 'raw' as const)
const options = fc.record({ encoding, secure: fc.boolean() })

describe('cookieStorage', () => {
  it('writes one cookie where one is enough', () => {
    const page = createCookieJar().page(url)
    void ours(page).setItem(key, '{"a":1}')
    expect(page.written).toEqual([`${key}=base64-eyJhIjoxfQ; Max-Age=34560000; Path=/; SameSite=Lax`])
    expect(ours(page).getItem(key)).toBe('{"a":1}')
  })

  it('fact 59: writes what @supabase/ssr writes, byte for byte, and each reads what the other wrote', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(sessionText, { minLength: 1, maxLength: 3 }), options, async (texts, how) => {
        const [mine, other] = [createCookieJar().page(url), createCookieJar().page(url)]
        for (const text of texts) {
          void ours(mine, how).setItem(key, text)
          await theirs(other, how).setItem(key, text)
        }
        expect(mine.written).toEqual(other.written)
        expect(ours(other).getItem(key)).toBe(texts.at(-1))
        expect(await theirs(mine).getItem(key)).toBe(texts.at(-1))
        void ours(mine, how).removeItem(key)
        await theirs(other, how).removeItem(key)
        expect(mine.written).toEqual(other.written)
        expect(mine.cookie).toBe('')
      }),
      { numRuns: 100 },
    )
  })

  it('cuts exactly where @supabase/ssr cuts, around every border', async () => {
    const sizes = [0, 1, 2, 3].flatMap((chunks) => Array.from({ length: 9 }, (_, near) => chunks * 3180 + near - 4))
    for (const size of sizes.filter((length) => length > 0)) {
      for (const character of ['x', 'é', '字', '😀']) {
        const [mine, other] = [createCookieJar().page(url), createCookieJar().page(url)]
        const text = 'x'.repeat(size % 12) + character.repeat(Math.ceil(size / encodeURIComponent(character).length))
        void ours(mine, { encoding: 'raw' }).setItem(key, text)
        await theirs(other, { encoding: 'raw' }).setItem(key, text)
        expect(mine.written).toEqual(other.written)
      }
    }
  })

  it('attack 43: takes half-written cookies for no session, as @supabase/ssr does, and leaves them', async () => {
    const harm = fc.array(fc.tuple(fc.nat(4), fc.constantFrom('drop', 'older', 'cut', 'stray')), { maxLength: 3 })
    await fc.assert(
      fc.asyncProperty(sessionText, sessionText, harm, encoding, async (text, older, harms, how) => {
        const [jar, old] = [createCookieJar(), createCookieJar().page(url)]
        const page = jar.page(url)
        void ours(page, { encoding: how }).setItem(key, text)
        void ours(old, { encoding: how }).setItem(key, older)
        for (const [index, kind] of harms) damage(jar, page, old.cookie, names(page)[index] ?? `${key}.${index}`, kind)
        const before = page.cookie
        const read = await ours(page).getItem(key)
        const other = await theirs(page).getItem(key)
        // Theirs also reads invalid UTF-8; ours takes it for the border of two writes.
        if (read !== null || other === null || isWellFormed(page.cookie, other)) expect(read).toBe(other)
        // A value that neither of them wrote is read unchanged.
        const written = how === 'base64url' && page.cookie.includes('=base64-')
        if (read !== null && written) expect(() => JSON.parse(read)).not.toThrow()
        expect(page.cookie).toBe(before)
      }),
      { numRuns: 120 },
    )
  })

  it('keeps characters beyond U+1FFFF, which @supabase/ssr loses when it writes and knows when it reads', async () => {
    const [mine, other] = [createCookieJar().page(url), createCookieJar().page(url)]
    void ours(mine).setItem(key, '"𠮷野家"')
    await theirs(other).setItem(key, '"𠮷野家"')
    expect(ours(mine).getItem(key)).toBe('"𠮷野家"')
    expect(await theirs(mine).getItem(key)).toBe('"𠮷野家"')
    expect(await theirs(other).getItem(key)).not.toBe('"𠮷野家"')
  })

  it('says so when a chunk is missing', () => {
    const jar = createCookieJar()
    const page = jar.page(url)
    void ours(page).setItem(key, JSON.stringify({ long: 'x'.repeat(5000) }))
    expect(names(page)).toEqual([`${key}.0`, `${key}.1`, `${key}.2`])
    jar.delete(`${key}.1`)
    expect(ours(page).getItem(key)).toBeNull()
    expect(warnings).toEqual([expect.stringContaining('do not fit together')])
  })

  it('compares names exactly', () => {
    const page = createCookieJar().page(url)
    const strange = [`${key}-code-verifier`, `${key}.01`, `${key}.1x`, `x${key}`]
    for (const name of strange) page.cookie = `${name}=1; Path=/`
    void ours(page).setItem(key, '1')
    void ours(page).removeItem(key)
    expect(names(page)).toEqual(strange)
    expect(ours(page).getItem(key)).toBeNull()
  })

  it('fact 60: reads the older formats: raw JSON, and whatever else as it is', () => {
    const page = createCookieJar().page(url)
    page.cookie = `${key}=${encodeURIComponent('{"access_token":"a"}')}; Path=/`
    expect(ours(page).getItem(key)).toBe('{"access_token":"a"}')
    page.cookie = `${key}=${encodeURIComponent('["access","refresh",null,null,null]')}; Path=/`
    expect(ours(page).getItem(key)).toBe('["access","refresh",null,null,null]')
    page.cookie = `${key}=%; Path=/`
    expect(ours(page).getItem(key)).toBe('%')
  })
})

describe('cookieStorage on a parent domain', () => {
  const shared = { domain: 'example.com', secure: true }

  it('shares a session among subdomains, past a cookie of the host alone', async () => {
    const jar = createCookieJar()
    const [app, shop] = [jar.page('https://app.example.com/'), jar.page('https://shop.example.com/')]
    void ours(app).setItem(key, '"old"')
    void ours(app, shared).setItem(key, '"new"')
    expect(ours(shop, shared).getItem(key)).toBe('"new"')
    expect(ours(app, shared).getItem(key)).toBe('"new"')
    expect(await theirs(app, shared).getItem(key)).toBe('"new"')
    void ours(shop, shared).removeItem(key)
    expect([app.cookie, shop.cookie]).toEqual(['', ''])
    expect(warnings).toEqual([])
  })

  it('writes what @supabase/ssr writes, and deletes the twin of each cookie first', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(sessionText, { minLength: 1, maxLength: 3 }), async (texts) => {
        const [mine, other] = [createCookieJar().page(url), createCookieJar().page(url)]
        for (const text of texts) {
          void ours(mine, shared).setItem(key, text)
          await theirs(other, shared).setItem(key, text)
        }
        // Since 0.11 @supabase/ssr deletes cookies of the host alone, too.
        const shares = (text: string): boolean => text.includes('Domain')
        expect(mine.written.filter(shares)).toEqual(other.written.filter(shares))
        for (const text of mine.written.filter((one) => !one.includes('Domain'))) expect(text).toContain('Max-Age=0')
      }),
      { numRuns: 30 },
    )
  })

  it('notices that the browser kept nothing', () => {
    void ours(createCookieJar().page(url), { domain: 'other.example' }).setItem(key, '1')
    void ours(createCookieJar().page('http://app.example.com/'), { secure: true }).setItem(key, '1')
    expect(warnings).toEqual(Array.from({ length: 2 }, () => expect.stringContaining('did not keep')))
  })

  it('warns of more cookies than servers take', () => {
    void ours(createCookieJar().page(url)).setItem(key, JSON.stringify('x'.repeat(13_000)))
    expect(warnings).toEqual([expect.stringContaining('6 cookies')])
  })

  it('is of no use where there is no page, and says so', () => {
    expect(() => cookieStorage()).toThrow(/needs a document/)
  })
})

const isWellFormed = (cookies: string, text: string): boolean =>
  cookies.replaceAll(/(; |^)[^=]*=/g, '') === `base64-${Buffer.from(text).toString('base64url')}`

function damage(jar: CookieJar, page: { cookie: string }, older: string, name: string, kind: string): void {
  const value = (cookies: string): string => new RegExp(`(?:^|; )${name}=([^;]*)`).exec(cookies)?.[1] ?? ''
  if (kind === 'drop') jar.delete(name)
  else if (kind === 'older') page.cookie = `${name}=${value(older)}; Path=/`
  else if (kind === 'cut') page.cookie = `${name}=${value(page.cookie).slice(0, -3)}; Path=/`
  else page.cookie = `${name}=${value(page.cookie)}A; Path=/`
}
