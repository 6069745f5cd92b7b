import { createHash } from 'node:crypto'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { describe, expect, it, test } from 'vitest'
import { type Answer } from '../../../support/auth.ts'
import { forSuite } from '../../../support/for-suite.ts'
import { startGoogle, type Person } from '../../../support/google.ts'
import { google } from '../../../support/openid-provider.ts'

const stage = forSuite(startGoogle, 'userinfo')

describe('an ID token', () => {
  const claims = (person: Person, more: Readonly<Record<string, unknown>> = {}): Record<string, unknown> => {
    const now = Math.floor(Date.now() / 1000)
    const said = { ...stage.provider.people.get(person.sub) }
    const about = { iss: stage.provider.issuer, aud: google.clientId, sub: person.sub }
    return { ...about, iat: now, exp: now + 300, ...said, ...more }
  }
  const grant = (body: Readonly<Record<string, unknown>>): Promise<Answer> =>
    stage.server.call('POST', '/token?grant_type=id_token', { body: { provider: 'google', ...body } })
  const bring = async (made: Record<string, unknown>, more: object = {}): Promise<Answer> =>
    grant({ id_token: await stage.provider.sign(made), ...more })

  it('opens a session', async () => {
    const person = stage.newPerson()
    const { status, body } = await bring(claims(person))
    expect([status, body.user.email]).toEqual([200, person.email])
    expect(body.access_token).toBeTruthy()
  })

  it('has no address where it has one that cannot be: no letter of it is left out', async () => {
    for (const character of ['\0', '\u0001', '\r\n', '\ud800', ' ', '\u200b']) {
      const person = stage.newPerson()
      const email = `a${character}${person.email}`
      const { status, body } = await bring(claims(person, { email, email_verified: true, name: 'A\0B\ud800' }))
      expect([status, body.user.email, body.user.user_metadata.email_verified]).toEqual([200, undefined, false])
      expect(body.user.user_metadata.name).toBe('AB')
      expect(await stage.byAddress(`a${person.email}`)).toBeUndefined()
    }
  })

  test('attack 5: of another issuer, client, time or key is refused', async () => {
    const person = stage.newPerson()
    const now = Math.floor(Date.now() / 1000)
    const own = await generateKeyPair('RS256', { extractable: true })
    const foreign = await new SignJWT(claims(person))
      .setProtectedHeader({ alg: 'RS256', kid: 'of the provider', jwk: await exportJWK(own.publicKey) })
      .sign(own.privateKey)
    const symmetric = await new SignJWT(claims(person))
      .setProtectedHeader({ alg: 'HS256', kid: 'of the provider' })
      .sign(new TextEncoder().encode(google.secret))
    const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
    const none = `${encoded({ alg: 'none' })}.${encoded(claims(person))}.`
    const tokens = [
      await stage.provider.sign(claims(person, { iss: 'https://evil.example.org' })),
      await stage.provider.sign(claims(person, { aud: 'another client' })),
      await stage.provider.sign(claims(person, { exp: now - 60 })),
      await stage.provider.sign(claims(person, { iat: now + 600 })),
      await stage.provider.sign(claims(person, { sub: '' })),
      await stage.provider.sign(claims(person, { sub: 'a\0b' })),
      foreign,
      symmetric,
      none,
      'x.y.z',
      'nothing',
    ]
    for (const id_token of tokens) {
      const more = { issuer: 'https://evil.example.org', client_id: 'another client' }
      const { status, body } = await grant({ id_token, ...more })
      expect([status, body.error, body.error_description]).toEqual([400, 'invalid request', 'Bad ID token'])
    }
    expect(await stage.byAddress(person.email)).toBeUndefined()
  })

  it('is for us by its audience alone, no matter who asked for it', async () => {
    const person = stage.newPerson()
    const ours = google.clientId
    const refused = [
      { aud: 'another client', azp: ours },
      { aud: ['a', 'b'], azp: ours },
      { aud: [] },
      { aud: [ours, 'b'] },
    ]
    for (const more of [...refused, { aud: [ours, 'b'], azp: 'b' }]) {
      expect([more, (await bring(claims(person, more))).body.error_description]).toEqual([more, 'Bad ID token'])
    }
    for (const more of [{ azp: 'an app of ours' }, { aud: [ours] }, { aud: [ours, 'b'], azp: ours }]) {
      expect([more, (await bring(claims(person, more))).status]).toEqual([more, 200])
    }
  })

  it('without nonce opens one session, also when it is brought many times at once', async () => {
    const id_token = await stage.provider.sign(claims(stage.newPerson()))
    const answers = await Promise.all([1, 2, 3, 4, 5].map(() => grant({ id_token })))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    const { status, body } = await grant({ id_token })
    expect([status, body.error_description]).toEqual([400, 'Bad ID token: it has been used already'])
  })

  it('with a nonce may be brought again by the client that kept it', async () => {
    const nonce = createHash('sha256').update('secret').digest('hex')
    const id_token = await stage.provider.sign(claims(stage.newPerson(), { nonce }))
    for (const _twice of [1, 2]) expect((await grant({ id_token, nonce: 'secret' })).status).toBe(200)
  })

  it('compares nonces', async () => {
    const person = stage.newPerson()
    const nonce = createHash('sha256').update('secret').digest('hex')
    const both = 'Passed nonce and nonce in id_token should either both exist or not.'
    expect((await bring(claims(person, { nonce }))).body).toEqual({ error: 'invalid request', error_description: both })
    expect((await bring(claims(person), { nonce: 'secret' })).body.error_description).toBe(both)
    const wrong = await bring(claims(person, { nonce }), { nonce: 'other' })
    expect(wrong.body).toEqual({ error: 'invalid nonce', error_description: 'Nonces mismatch' })
    expect((await bring(claims(person, { nonce }), { nonce: 'secret' })).status).toBe(200)
  })

  it('belongs to its access token', async () => {
    const person = stage.newPerson()
    const at_hash = createHash('sha256').update('token').digest().subarray(0, 16).toString('base64url')
    expect((await bring(claims(person, { at_hash }), { access_token: 'other' })).status).toBe(400)
    expect((await bring(claims(person, { at_hash }), { access_token: 'token' })).status).toBe(200)
  })

  it('is refused of providers that are not offered', async () => {
    const { status, body } = await grant({ provider: 'apple', id_token: 'x.y.z' })
    expect([status, body.error_code]).toEqual([400, 'provider_disabled'])
    expect(body.msg).toContain('not enabled')
    expect((await grant({})).body.error_description).toBe('id_token required')
  })
})
