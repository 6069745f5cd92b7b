import { createHmac, createPrivateKey, createPublicKey, generateKeyPairSync, randomUUID } from 'node:crypto'
import { SignJWT, type JWTHeaderParameters } from 'jose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { claimsOf, startAuthServer, type AuthServer } from '../../../support/auth.ts'
import { postGraphql } from '../../../support/post-graphql.ts'

/** A project with keys of its own, and what others make of their public parts. */

const makeKey = (kid: string, alg: 'RS256' | 'ES256', sign: boolean) => {
  const { privateKey } =
    alg === 'RS256'
      ? generateKeyPairSync('rsa', { modulusLength: 2048 })
      : generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return { ...privateKey.export({ format: 'jwk' }), kid, alg, key_ops: sign ? ['sign', 'verify'] : ['verify'] }
}
const [ours, older, foreign] = [
  makeKey('ours', 'RS256', true),
  makeKey('older', 'ES256', false),
  makeKey('ours', 'RS256', true),
]
const privateOf = (jwk: typeof ours) => createPrivateKey({ key: jwk, format: 'jwk' })
const publicOf = (jwk: typeof ours) => createPublicKey({ key: jwk, format: 'jwk' })

let server: AuthServer
beforeAll(async () => {
  const settings = { autoconfirm: 'on', jwt_exp: '900', jwt_keys: JSON.stringify([ours, older]) }
  server = await startAuthServer({ settings })
})
afterAll(() => server?.stop())

const signUp = async (): Promise<string> => {
  const body = { email: `${randomUUID()}@example.com`, password: 'correct horse' }
  return (await server.call('POST', '/signup', { body })).body.access_token
}
const graphql = (token: string): Promise<Response> =>
  postGraphql(server, { query: '{ __typename }' }, { authorization: `Bearer ${token}` })
const sign = (claims: object, header: JWTHeaderParameters, key: Parameters<SignJWT['sign']>[0]): Promise<string> =>
  new SignJWT({ ...claims }).setProtectedHeader(header).sign(key)
const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')
/** Signed with any text as the secret, however unfit a library finds it. */
const hmac = (claims: object, header: object, key: string | Buffer): string => {
  const signed = `${encoded(header)}.${encoded(claims)}`
  return `${signed}.${createHmac('sha256', key).update(signed).digest('base64url')}`
}

describe('a token', () => {
  it('attack 23: of another algorithm or key than the one it names is refused everywhere', async () => {
    const token = await signUp()
    const claims = { ...claimsOf(token), role: 'service_role' }
    const [secret, pem] = [Buffer.from(server.secret), publicOf(ours).export({ type: 'spki', format: 'pem' })]
    const jwk = publicOf(foreign).export({ format: 'jwk' })
    const forged: Readonly<Record<string, string>> = {
      none: `${encoded({ alg: 'none' })}.${encoded(claims)}.`,
      'none of our key': `${encoded({ alg: 'none', kid: 'ours' })}.${encoded(claims)}.`,
      'the public key as secret': hmac(claims, { alg: 'HS256', kid: 'ours' }, pem),
      'the public key as secret, unnamed': hmac(claims, { alg: 'HS256' }, pem),
      'the public JWK as secret': hmac(
        claims,
        { alg: 'HS256', kid: 'ours' },
        JSON.stringify(publicOf(ours).export({ format: 'jwk' })),
      ),
      'the modulus as secret': hmac(claims, { alg: 'HS256', kid: 'ours' }, Buffer.from(String(ours.n), 'base64url')),
      'our secret under the name of a key': await sign(claims, { alg: 'HS256', kid: 'ours' }, secret),
      'our secret under a foreign name': await sign(claims, { alg: 'HS256', kid: 'foreign' }, secret),
      'our secret by another algorithm': await sign(claims, { alg: 'HS512' }, secret),
      'an algorithm in small letters': hmac(claims, { alg: 'hs256' }, secret),
      'a foreign key under our name': await sign(claims, { alg: 'RS256', kid: 'ours' }, privateOf(foreign)),
      'a foreign key that is enclosed': await sign(claims, { alg: 'RS256', kid: 'ours', jwk }, privateOf(foreign)),
      'our key under a foreign name': await sign(claims, { alg: 'RS256', kid: 'foreign' }, privateOf(ours)),
      'our key unnamed': await sign(claims, { alg: 'RS256' }, privateOf(ours)),
      'our key under the name of the other': await sign(claims, { alg: 'RS256', kid: 'older' }, privateOf(ours)),
      'our key by another algorithm': await sign(claims, { alg: 'PS256', kid: 'ours' }, privateOf(ours)),
      'a name that is inherited': await sign(claims, { alg: 'HS256', kid: '__proto__' }, secret),
    }
    for (const [what, made] of Object.entries(forged)) {
      const { status, body } = await server.call('GET', '/user', { token: made })
      expect([what, status, body.error_code]).toEqual([what, 403, 'bad_jwt'])
      expect(body.msg).toMatch(/^invalid JWT: unable to parse or verify signature, /)
      expect([what, (await graphql(made)).status]).toEqual([what, 401])
      expect([what, (await server.call('GET', '/admin/users', { token: made })).status]).toEqual([what, 403])
    }
  })

  it('of our key, of an older one or of the secret is good', async () => {
    const token = await signUp()
    const claims = claimsOf(token)
    const good = [
      token,
      await sign(claims, { alg: 'ES256', kid: 'older' }, privateOf(older)),
      await sign(claims, { alg: 'HS256' }, Buffer.from(server.secret)),
    ]
    for (const one of good) {
      expect([(await server.call('GET', '/user', { token: one })).status, (await graphql(one)).status]).toEqual([
        200, 200,
      ])
    }
  })

  it('attack 37: was issued in whole seconds and never in the future; a clock that is ahead by 30 s does no harm', async () => {
    for (let round = 0; round < 5; round += 1) {
      const began = Math.floor(Date.now() / 1000)
      const { iat, exp } = claimsOf(await signUp()) as { iat: number; exp: number }
      const ended = Math.floor(Date.now() / 1000)
      expect([Number.isInteger(iat), iat >= began, iat <= ended, exp - iat]).toEqual([true, true, true, 900])
    }
    const claims = claimsOf(await signUp())
    const iat = Math.floor(Date.now() / 1000) + 30
    const ahead = await sign({ ...claims, iat, exp: iat + 900 }, { alg: 'RS256', kid: 'ours' }, privateOf(ours))
    expect([(await server.call('GET', '/user', { token: ahead })).status, (await graphql(ahead)).status]).toEqual([
      200, 200,
    ])
  })
})
