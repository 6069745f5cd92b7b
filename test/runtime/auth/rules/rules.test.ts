import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { readJsonBody } from '../../../../runtime/auth/protocol/io.ts'
import { apiVersionOf } from '../../../../runtime/auth/http/register.ts'
import { judgeEmail } from '../../../../runtime/auth/rules/email.ts'
import { isTooLong, judgeStrength, meetsChallenge, readChallenge } from '../../../../runtime/auth/rules/credentials.ts'
import { judgeRefresh, judgeSession } from '../../../../runtime/auth/rules/refresh.ts'
import { rfc3339 } from '../../../../runtime/auth/rules/user-json.ts'
import { linkKey, linkToken, newCode, newSalt } from '../../../../runtime/auth/secrets/one-time-tokens.ts'

describe('an address', () => {
  test.each(['a@b', 'a.b+c@d-e.example', "o'neil!#$%&*/=?^_`{|}~-@x.y", `${'a'.repeat(64)}@${'b'.repeat(63)}.example`])(
    'is fine: %s',
    (address) => expect(judgeEmail(address)).toBeNull(),
  )
  test.each([
    '',
    '@',
    'a@',
    '@b',
    'a b@c.de',
    ' a@b.de',
    'a@b.de ',
    '"a"@b.de',
    'a@b@c.de',
    'ä@b.de',
    'a@bücher.de',
    'a@-b.de',
    'a@b-.de',
    'a@b..de',
    'a@.de',
    `a@${'b'.repeat(64)}.de`,
    'a@b.de\r\nBcc: x@y.z',
    'a@[127.0.0.1]',
    'a,b@c.de',
    'a@b.de\0',
  ])('is malformed: %j', (address) => expect(judgeEmail(address)).toBe('malformed'))
  it('has at most 255 characters', () => {
    expect(judgeEmail(`${'a'.repeat(251)}@b.d`)).toBeNull()
    expect(judgeEmail(`${'a'.repeat(252)}@b.d`)).toBe('too-long')
  })
})

describe('a new password', () => {
  const rules = { password_min_length: 6, password_required_characters: ['abc', '0123456789'] }
  test.each([
    ['a23456', null],
    ['a2345', ['length']],
    ['aaaaaa', ['characters']],
    ['x', ['length', 'characters']],
    ['a1💥💥💥💥', null],
  ])('is judged by the rules: %j: %j', (password, reasons) =>
    expect(judgeStrength(password, rules)?.reasons ?? null).toEqual(reasons),
  )
  it('has at most 72 bytes', () => {
    expect([isTooLong('x'.repeat(72)), isTooLong('x'.repeat(73)), isTooLong('ä'.repeat(37))]).toEqual([
      false,
      true,
      true,
    ])
  })
})

describe('the verdict on a refresh token', () => {
  const facts = fc.record({
    revoked: fc.boolean(),
    revokedSecondsAgo: fc.double({ min: -5, max: 100, noNaN: true }),
    beforeUpgrade: fc.boolean(),
    unseen: fc.boolean(),
    live: fc.option(fc.record({ token: fc.constant('live'), isChild: fc.boolean(), isUsed: fc.boolean() })),
  })
  it('never gives a token of a lower level a higher one, and spends only what is live', () => {
    fc.assert(
      fc.property(facts, fc.integer({ min: 0, max: 60 }), (known, interval) => {
        const { kind } = judgeRefresh(known, interval)
        if (known.beforeUpgrade) expect(['refuse', 'end-session']).toContain(kind)
        else if (!known.revoked) expect(kind).toBe('rotate')
        else if (known.live === null) expect(kind).toBe('end-session')
        else if (known.revokedSecondsAgo < interval) expect(kind).toBe('replay')
        else expect(kind === 'replay').toBe(known.live.isChild && !known.live.isUsed && !known.unseen)
      }),
    )
  })

  test.each([
    [{ age: 10, idle: 5, past: false, hasNewer: true }, null],
    [{ age: 100, idle: 5, past: false, hasNewer: false }, 'timebox'],
    [{ age: 10, idle: 50, past: false, hasNewer: false }, 'inactivity'],
    [{ age: 10, idle: 5, past: true, hasNewer: false }, 'timebox'],
  ])('a session of %j ends by %s', (session, fault) => {
    const limits = { session_timebox: 100, session_inactivity: 50, session_single_per_user: false }
    expect(judgeSession(session, limits)).toBe(fault)
  })
})

describe('a proof key', () => {
  const verifier = 'v'.repeat(43)
  const challenge = createHash('sha256').update(verifier).digest('base64url')
  it('is both parameters or neither, of the right make', () => {
    expect(readChallenge('', '')).toEqual({ kind: 'none' })
    expect(readChallenge(challenge, 'S256')).toEqual({ kind: 'challenge', challenge: { challenge, method: 's256' } })
    for (const [text, method] of [
      [challenge, ''],
      ['', 's256'],
      ['x'.repeat(42), 's256'],
      ['x'.repeat(129), 'plain'],
      [`${challenge}!`, 's256'],
      [challenge, 'md5'],
    ]) {
      expect(readChallenge(text ?? '', method ?? '').kind).toBe('refused')
    }
  })
  it('is met by its verifier alone', () => {
    expect(meetsChallenge(verifier, { challenge, method: 's256' })).toBe(true)
    expect(meetsChallenge(challenge, { challenge, method: 's256' })).toBe(false)
    expect(meetsChallenge(verifier, { challenge: verifier, method: 'plain' })).toBe(true)
    expect(meetsChallenge('', { challenge: verifier, method: 'plain' })).toBe(false)
  })
})

describe('a mailed token', () => {
  it('attack 10: is 56 hex digits that nobody computes from address and code', () => {
    const parts = { purpose: 'confirmation', address: 'a@example.com', code: '123456', salt: newSalt() }
    const token = linkToken(linkKey('secret'), parts)
    expect(token).toMatch(/^[0-9a-f]{56}$/)
    expect(token).not.toBe(createHash('sha224').update('a@example.com123456').digest('hex'))
    const others = [{ purpose: 'recovery' }, { address: 'b@example.com' }, { code: '123457' }, { salt: newSalt() }]
    for (const other of others) expect(linkToken(linkKey('secret'), { ...parts, ...other })).not.toBe(token)
    expect(linkToken(linkKey('other'), parts)).not.toBe(token)
  })
  it('comes with six digits', () => {
    for (let i = 0; i < 1000; i += 1) expect(newCode()).toMatch(/^\d{6}$/)
  })
})

describe('a body', () => {
  it('comes out as it was written, whatever JSON object it is', () => {
    const storable = (text: string): boolean => !/\0|[\ud800-\udfff]/u.test(text)
    fc.assert(
      fc.property(fc.dictionary(fc.string().filter(storable), fc.jsonValue({ noUnicodeString: true })), (value) => {
        const text = JSON.stringify(value)
        if (!text.includes('\\u0000') && !text.includes('\\ud'))
          expect(readJsonBody(Buffer.from(text))).toEqual(JSON.parse(text))
      }),
    )
    expect(readJsonBody(Buffer.alloc(0))).toEqual({})
  })
})

it.each([
  ['2026-11-21 15:00:00.123456+00', '2026-11-21T15:00:00.123456Z'],
  ['2026-11-21 15:00:00+00', '2026-11-21T15:00:00Z'],
  ['2026-11-21T15:00:00.1+00:00', '2026-11-21T15:00:00.1Z'],
])('the time %s is %s', (time, expected) => expect(rfc3339(time)).toBe(expected))

it.each([
  [undefined, 'initial'],
  ['2023-12-31', 'initial'],
  ['nonsense', 'initial'],
  ['2024-13-01', 'initial'],
  ['2024-01-01', '2024-01-01'],
  ['2025-06-01', '2024-01-01'],
])('version %s is %s', (header, expected) => expect(apiVersionOf(header)).toBe(expected))
