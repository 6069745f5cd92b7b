import { describe, expect, it, test } from 'vitest'
import fc from 'fast-check'
import { matchesGlob, judgeRedirect } from '../../../../runtime/auth/rules/redirect.ts'
import { authSettingKeys } from '../../../../runtime/auth/settings/setting-keys.ts'

const settings = {
  site_url: 'https://app.example.com',
  redirect_allow_list: [
    'http://localhost:5173',
    'https://*.preview.example.com/cb',
    'https://deep.example.com/**',
    'myapp://callback',
    'http://127.0.0.1:*/callback',
    'https://{one,two}.example.org/[a-c]?',
  ],
}
const judge = (asked: string): string => {
  const verdict = judgeRedirect(asked, settings)
  return verdict.kind === 'allowed' ? verdict.url : 'refused'
}

describe('a destination', () => {
  it.each([
    'https://app.example.com',
    'https://app.example.com/',
    'https://app.example.com:443/deep/path?x=1#y',
    'http://localhost:5173',
    'http://localhost:5173#part',
    'https://x.preview.example.com/cb',
    'https://deep.example.com/a/b.c?d=e',
    'myapp://callback',
    'http://127.0.0.1:8080/callback',
    'https://one.example.org/bx',
  ])('on the site or the list is allowed: %s', (asked) => {
    expect(judge(asked)).toBe(asked)
  })

  it.each(['', '/path', 'foo@bar.com', 'path/only', '?q=1'])(
    'that is no absolute address counts as none: %j',
    (asked) => {
      expect(judge(asked)).toBe(settings.site_url)
    },
  )

  it.each([
    'https://evil.example',
    '//evil.example',
    '\\\\evil.example',
    '/\\evil.example',
    'https://app.example.com.evil.example',
    'https://app.example.com@evil.example',
    'https://app.example.com:x@evil.example/',
    'https://user@app.example.com',
    'https://:pw@app.example.com',
    'https:\\\\app.example.com\\evil',
    'https://app.example.com\\@evil.example',
    'https:/evil.example',
    'https:evil.example',
    'https:///evil.example',
    'http://app.example.com',
    'https://app.example.com:8443',
    'HTTPS://app.example.com',
    'JAVASCRIPT:alert(1)',
    'javascript:alert(1)',
    'javascript://app.example.com/%0aalert(1)',
    'data:text/html,x',
    'vbscript:x',
    'file:///etc/passwd',
    'blob:https://app.example.com/x',
    'http://2130706433/callback',
    'http://0x7f000001/callback',
    'http://0177.0.0.1/callback',
    'http://127.1:80/callback',
    'http://192.168.0.1/',
    'http://[2001:db8::1]/',
    'http://127.0.0.1:x@evil.example/callback',
    'http://127.0.0.1:80@evil.example/callback',
    'http://127.0.0.1:80/callback/../evil',
    'http://127.0.0.1:80/evil/../callback/..',
    'https://x.y.preview.example.com/cb',
    'https://evil.example/x.preview.example.com/cb',
    'https://evil.example#.preview.example.com/cb',
    'https://evil?.preview.example.com/cb',
    'https://evil/?.preview.example.com/cb',
    'https://preview.example.com/cb',
    'https://.preview.example.com/cb',
    'https://x..example.com',
    'https://deep.example.com./a',
    'http://localhost:5173/',
    'http://localhost:5173/x',
    'http://localhost:51730',
    'http://localhost',
    'https://аpp.example.com',
    'https://\uff41pp.example.com',
    'https://app%2eexample.com',
    'https://app.example.com\t.evil.example',
    ' https://app.example.com',
    'https://app.example.com\r\nLocation: x',
    'myapp://callback/x',
    'myapp://evil@callback',
    'https://three.example.org/bx',
    'https://one.example.org/dx',
    'https://one.example.org/b/',
    `https://app.example.com/${'x'.repeat(5000)}`,
  ])('attack 7: elsewhere is refused: %j', (asked) => {
    expect(judge(asked)).toBe('refused')
  })

  test('on the machine itself must be listed, except for any port of the site on it', () => {
    const local = { site_url: 'http://localhost:3000', redirect_allow_list: [] }
    expect(judgeRedirect('http://localhost:9999/x', local).kind).toBe('allowed')
    expect(judgeRedirect('http://127.0.0.1:3000/x', local).kind).toBe('refused')
    expect(judgeRedirect('https://localhost:3000/x', local).kind).toBe('refused')
  })

  describe("where the site is of an application's own scheme", () => {
    const own = { site_url: 'myapp://home', redirect_allow_list: ['myapp://listed'] }

    it.each(['myapp://home', 'myapp://home#access_token=x', 'myapp://listed'])('is allowed: %s', (asked) => {
      expect(judgeRedirect(asked, own)).toEqual({ kind: 'allowed', url: asked })
    })

    it.each(['', '/path', 'foo@bar.com'])('that is no absolute address counts as none: %j', (asked) => {
      expect(judgeRedirect(asked, own)).toEqual({ kind: 'allowed', url: own.site_url })
    })

    it.each([
      'myapp://other',
      'myapp://home/',
      'myapp://home/x',
      'myapp://home?x=1',
      'myapp://home:1',
      'myapp://HOME',
      'MYAPP://home',
      'myapp:home',
      'myapp:///home',
      'myapp://x@home',
      'myapp://home.evil.example',
      'myapps://home',
      'https://home',
      'http://home/',
      'javascript://home',
      ' myapp://home',
      'myapp://home\r\n',
    ])('is refused elsewhere: %j', (asked) => {
      expect(judgeRedirect(asked, own)).toEqual({ kind: 'refused' })
    })
  })

  it.each(['https://münchen.example', 'https://my_app.example.com', 'http://127.1:3000', 'com.example.app://home/in'])(
    'is the site itself, however its host is written: %s',
    (site) => {
      expect(judgeRedirect(site, { site_url: site, redirect_allow_list: [] })).toEqual({ kind: 'allowed', url: site })
    },
  )

  test('is the site itself, for whatever text the setting takes', () => {
    const scheme = fc.constantFrom('https', 'http', 'myapp', 'com.example.app', 'javascript', 'data', 'file', 'about')
    const site = fc
      .tuple(scheme, fc.constantFrom('://', ':', ':/'), fc.oneof(fc.string({ unit: 'binary' }), fc.domain()))
      .map((parts) => parts.join(''))
    fc.assert(
      fc.property(site, (text) => {
        const parsed = authSettingKeys.site_url.parse(text)
        if (parsed.kind === 'problem') return
        expect(text).toMatch(/^(https?|myapp|com\.example\.app):\/\//)
        const url = parsed.value
        expect(judgeRedirect(url, { site_url: url, redirect_allow_list: [] })).toEqual({ kind: 'allowed', url })
      }),
      { numRuns: 5000 },
    )
  })

  test('that is allowed has the host of the site or of an entry, whatever is thrown at it', () => {
    const piece = fc.constantFrom(
      'https:',
      'http:',
      '//',
      '/',
      '\\',
      '@',
      ':',
      '.',
      '#',
      '?',
      'app.example.com',
      'evil.example',
      'localhost',
      '5173',
      '127.0.0.1',
      'preview.example.com',
      'deep.example.com',
      '%2e',
      'javascript:',
      ' ',
      '[',
      ']',
      'x',
      '..',
      '443',
    )
    const hosts =
      /^(app\.example\.com|localhost|[a-z0-9-]+\.preview\.example\.com|deep\.example\.com|127\.0\.0\.1|\w+\.example\.org)$/
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 9 }), (pieces) => {
        const verdict = judgeRedirect(pieces.join(''), settings)
        if (verdict.kind === 'allowed') expect(new URL(verdict.url).hostname).toMatch(hosts)
      }),
      { numRuns: 5000 },
    )
  })

  /** Addresses that are allowed, and what changes where one leads in the eyes of some parser or other. */
  const good = fc.constantFrom(
    'https://app.example.com/path?q=1#part',
    'https://x.preview.example.com/cb',
    'https://deep.example.com/a/b',
    'http://127.0.0.1:8080/callback',
    'https://one.example.org/bx',
    'myapp://callback',
  )
  const bad = fc.oneof(
    fc.string({ unit: 'binary', minLength: 1, maxLength: 2 }),
    fc.constantFrom(
      '@',
      '\\',
      '/',
      '//',
      '#',
      '?',
      ':',
      '.',
      '%00',
      '%2f',
      '%40',
      '\t',
      '\r\n',
      '\0',
      ' ',
      '\u3002',
      '\uff0f',
    ),
    fc.constantFrom(
      'evil.example',
      '@evil.example',
      '.evil.example',
      'evil.example/',
      '//evil.example\\@',
      '[::1]',
      '0x7f.1',
    ),
  )
  const mangled = fc
    .tuple(good, fc.array(fc.tuple(fc.nat(40), fc.nat(3), bad), { minLength: 1, maxLength: 3 }))
    .map(([address, changes]) =>
      changes.reduce<string>((text, [at, gone, put]) => text.slice(0, at) + put + text.slice(at + gone), address),
    )
  const origins = [
    /^https:\/\/(app|[a-z0-9-]*\.preview|deep)\.example\.com$/,
    /^http:\/\/(localhost:5173|127\.0\.0\.1(:\d+)?)$/,
    /^https:\/\/(one|two)\.example\.org$/,
  ]

  test('that is allowed leads there for every reader, and no reader is sent to another place on the way', () => {
    fc.assert(
      fc.property(mangled, (asked) => {
        const url = judge(asked)
        if (url === 'refused') return
        expect(judge(url)).toBe(url)
        expect(url).not.toMatch(/[\s\\\p{Cc}]/u)
        // As a browser reads a Location: by the address that it came from.
        const read = new URL(url, 'https://project.example/auth/v1/verify')
        expect([read.username, read.password]).toEqual(['', ''])
        if (read.protocol === 'myapp:') expect(url).toMatch(/^myapp:\/\/callback(#.*)?$/s)
        else
          expect(
            origins.some((origin) => origin.test(read.origin)),
            url,
          ).toBe(true)
      }),
      { numRuns: 4000 },
    )
  })

  test('of another site is refused, however it is written', () => {
    fc.assert(
      fc.property(fc.webUrl({ withFragments: true, withQueryParameters: true }), (asked) => {
        fc.pre(!/^https?:\/\/(app|deep)\.example\.com|localhost|127\.0\.0\.1/.test(asked))
        expect(judge(asked)).toBe('refused')
      }),
      { numRuns: 2000 },
    )
  })
})

describe('a glob', () => {
  /** The same pattern for the engine of regular expressions, made piece by piece along with it. */
  const literal = fc.constantFrom('a', 'b', '-', '.', '/', ':').map((text) => [text, `[${text}]`] as const)
  const simple = fc.oneof(
    { weight: 4, arbitrary: literal },
    {
      weight: 3,
      arbitrary: fc.constantFrom(['*', '[^./]*'], ['**', '[^]*'], ['?', '[^./]'], ['\\*', '[*]'], [
        '\\{',
        '[{]',
      ] as const),
    },
    {
      weight: 1,
      arbitrary: fc.constantFrom(['[ab]', '[ab]'], ['[!a]', '[^a./]'], ['[a-c]', '[a-c]'], [
        '[!a-b]',
        '[^a-b./]',
      ] as const),
    },
  )
  /** Adjacent stars differ from separate ones. */
  const isApart = (parts: readonly (readonly [string, string])[]): boolean => {
    const glob = parts.map(([one]) => one).join(' ')
    return !/\* \*|\* \{|\} \*|\*[,}]/.test(glob)
  }
  const sequence = fc
    .array(simple, { maxLength: 5 })
    .filter(isApart)
    .map((parts) => [parts.map(([glob]) => glob).join(''), parts.map(([, regExp]) => regExp).join('')] as const)
  const braces = fc
    .array(sequence, { minLength: 1, maxLength: 3 })
    .map(
      (some) =>
        [`{${some.map(([glob]) => glob).join()}}`, `(?:${some.map(([, regExp]) => regExp).join('|')})`] as const,
    )
  const whole = fc
    .tuple(sequence, fc.option(braces), sequence)
    .map((parts) => parts.flatMap((part) => (part === null ? [] : [part])))
  it('matches what the regular expression of the same pieces matches', () => {
    const text = fc.array(fc.constantFrom('a', 'b', 'c', '-', '.', '/', ':', '*', '{'), { maxLength: 8 })
    fc.assert(
      fc.property(whole, text, (parts, characters) => {
        const glob = parts.map(([one]) => one).join('')
        fc.pre(isApart(parts))
        const regExp = new RegExp(`^${parts.map(([, one]) => one).join('')}$`, 'u')
        expect(matchesGlob(glob, characters.join('')), glob).toBe(regExp.test(characters.join('')))
      }),
      { numRuns: 4000 },
    )
  })

  it.each([
    ['a*c', 'abbc', true],
    ['a*c', 'a.c', false],
    ['a**c', 'a./c', true],
    ['a?c', 'abc', true],
    ['a?c', 'a/c', false],
    ['[!a-c]', 'd', true],
    ['[!a-c]', 'b', false],
    ['[!a-c]', '/', false],
    ['{a,b{c,d}}', 'bd', true],
    ['{a,b{c,d}}', 'b', false],
    ['\\*', '*', true],
    ['\\*', 'x', false],
    ['[a', '[a', false],
    ['{a', '{a', false],
    ['**', '', true],
    ['', '', true],
  ])('%s matches %j: %s', (pattern, text, expected) => {
    expect(matchesGlob(pattern, text)).toBe(expected)
  })

  it('takes no longer for a pattern that makes others backtrack', () => {
    const began = performance.now()
    expect(matchesGlob(`${'**a'.repeat(20)}b`, 'a'.repeat(4000))).toBe(false)
    expect(performance.now() - began).toBeLessThan(1000)
  })
})
