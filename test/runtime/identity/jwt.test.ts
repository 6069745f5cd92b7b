import { createHmac, generateKeyPairSync, sign } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { createTokenVerifier } from '../../../runtime/identity/jwt.ts'
import { projectKeys } from '../../../runtime/identity/project-keys.ts'

const secret = 'a secret that has more than thirty-two characters'
const start = 1_800_000_000

const encode = (value: string | Buffer): string => Buffer.from(value).toString('base64url')
const hmac = (text: string, key: string, hash = 'sha256'): string =>
  createHmac(hash, key).update(text).digest('base64url')

/** A token made by hand, so that the verifier is not tested against the library it uses. */
const token = (payload: string | Buffer, header: object = { alg: 'HS256', typ: 'JWT' }, key = secret): string => {
  const signed = `${encode(JSON.stringify(header))}.${encode(payload)}`
  return `${signed}.${hmac(signed, key)}`
}

const clockAt = (seconds: { now: number }) => createTokenVerifier({ secret, now: () => seconds.now * 1000 })
const verify = clockAt({ now: start })
const fault = async (text: string): Promise<string> => {
  const verdict = await verify(text)
  return verdict.kind === 'refused' ? verdict.fault : 'verified'
}

describe('a token', () => {
  it('gives its role and its claims exactly as they were signed', async () => {
    const claims = '{ "role":"authenticated",\n "n": 12345678901234567890.10, "z":"ü\\u00e9", "a":1 }'
    expect(await verify(token(claims))).toEqual({ kind: 'verified', caller: { role: 'authenticated', claims } })
  })

  it('is refused when it is not signed with HS256 and our secret', async () => {
    const payload = '{"role":"service_role"}'
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    const rsHead = `${encode('{"alg":"RS256","typ":"JWT"}')}.${encode(payload)}`
    const rs256 = `${rsHead}.${sign('sha256', Buffer.from(rsHead), privateKey).toString('base64url')}`
    const publicPem = publicKey.export({ type: 'spki', format: 'pem' }).toString()
    const noneHead = `${encode('{"alg":"none"}')}.${encode(payload)}`
    const hs512Head = `${encode('{"alg":"HS512"}')}.${encode(payload)}`

    expect(await fault(token(payload, { alg: 'HS256' }, `${secret} of another project`))).toBe('signature')
    expect(await fault(token(payload, { alg: 'HS256' }, publicPem))).toBe('signature')
    expect(await fault(token(payload, { alg: 'HS256' }, ''))).toBe('signature')
    expect(await fault(rs256)).toBe('malformed')
    expect(await fault(`${noneHead}.`)).toBe('malformed')
    expect(await fault(`${noneHead}.${hmac(noneHead, secret)}`)).toBe('malformed')
    expect(await fault(`${hs512Head}.${hmac(hs512Head, secret, 'sha512')}`)).toBe('malformed')
    expect(await fault(token(payload, { alg: 'hs256' }))).toBe('malformed')
    expect(await fault(token(payload, { alg: 'HS256', crit: ['b64'], b64: false }))).toBe('malformed')
  })

  it('is refused when its signature or payload was changed', async () => {
    const [head, , signature] = token('{"role":"anon"}').split('.')
    expect(await fault(`${head}.${encode('{"role":"service_role"}')}.${signature}`)).toBe('signature')
    expect(await fault(`${head}.${encode('{"role":"anon"}')}.`)).toBe('signature')
  })

  it.each([
    ['no JSON object', '["role"]'],
    ['no JSON', 'role'],
    ['null', 'null'],
    ['no role', '{"sub":"x"}'],
    ['an empty role', '{"role":""}'],
    ['a role that is no text', '{"role":["anon"]}'],
    ['the role "none", which is none', '{"role":"none"}'],
    ['a role with NUL', '{"role":"anon\\u0000"}'],
    ['an expiry that is no number', '{"role":"anon","exp":"tomorrow"}'],
    ['a role that is inherited', '{"__proto__":{"role":"anon"}}'],
    ['not UTF-8', Buffer.from([...Buffer.from('{"role":"anon","x":"'), 0xff, 0x22, 0x7d])],
  ])('with %s is refused', async (_, payload) => {
    expect(await fault(token(payload))).toBe('malformed')
  })

  it.each(['', '.', '..', 'a.b', 'a.b.c', 'a.b.c.d', 'null', '💥.💥.💥'])(
    'that is none is refused: %j',
    async (text) => {
      expect(await fault(text)).toBe('malformed')
    },
  )

  it('is refused beyond 48 KiB, however well it is signed', async () => {
    expect(await fault(token(`{"role":"anon","x":"${'x'.repeat(36_700)}"}`))).toBe('verified')
    expect(await fault(token(`{"role":"anon","x":"${'x'.repeat(36_800)}"}`))).toBe('malformed')
  })

  it('attack 37: is good until its expiry and from 30 s before its beginning, to the second', async () => {
    const clock = { now: start }
    const at = clockAt(clock)
    const text = token(`{"role":"anon","nbf":${start + 40},"exp":${start + 50}}`)
    const kindAt = async (now: number): Promise<unknown> => {
      clock.now = now
      const verdict = await at(text)
      return verdict.kind === 'refused' ? verdict.fault : verdict.kind
    }
    expect(await kindAt(start + 9)).toBe('early')
    expect(await kindAt(start + 10)).toBe('verified')
    expect(await kindAt(start + 49)).toBe('verified')
    expect(await kindAt(start + 50)).toBe('expired')
    expect(await kindAt(start + 49)).toBe('verified')
    expect(await kindAt(start + 9)).toBe('early')
  })

  it('is remembered by its full text: a changed signature is not served from memory', async () => {
    const text = token('{"role":"anon"}')
    expect(await fault(text)).toBe('verified')
    expect(await fault(text.slice(0, -4) + (text.endsWith('AAAA') ? 'BBBB' : 'AAAA'))).toBe('signature')
    expect((await createTokenVerifier({ secret: `${secret}2`, now: Date.now })(text)).kind).toBe('refused')
  })
})

describe('project keys', () => {
  it('are the same each time for one secret and differ between secrets', async () => {
    expect(await projectKeys(secret)).toEqual(await projectKeys(secret))
    expect((await projectKeys(`${secret}2`)).anon).not.toBe((await projectKeys(secret)).anon)
  })

  it('name their roles and never expire', async () => {
    const keys = await projectKeys(secret)
    const late = createTokenVerifier({ secret, now: () => Date.UTC(2999, 0) })
    expect(await late(keys.anon)).toMatchObject({ caller: { role: 'anon' } })
    expect(await late(keys.serviceRole)).toMatchObject({ caller: { role: 'service_role' } })
  })
})
