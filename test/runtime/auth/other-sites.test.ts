import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it, test } from 'vitest'
import { siteUrl, type AuthServer } from '../../support/auth.ts'
import { forSuite } from '../../support/for-suite.ts'
import { startGoogle } from '../../support/google.ts'

let server: AuthServer
const stage = forSuite(startGoogle, 'id-token', { autoconfirm: 'on' })
beforeAll(async () => {
  server = stage.server
})

const origin = 'https://evil.example.org'
const password = 'correct horse'

describe('another site', () => {
  it('attack 42: finds no cookie that speaks for anybody, and none is ever set', async () => {
    const email = `${randomUUID()}@example.com`
    const signedUp = await server.call('POST', '/signup', { body: { email, password } })
    const { access_token: token, refresh_token } = signedUp.body
    await server.call('POST', '/recover', { body: { email } })
    const { search } = new URL((await server.mails(email))[0]?.url ?? '')
    const back = await stage.goThrough(stage.newPerson())
    const answers = [
      signedUp,
      await server.call('POST', '/token?grant_type=password', { body: { email, password } }),
      await server.call('POST', '/token?grant_type=refresh_token', { body: { refresh_token } }),
      await server.call('GET', `/verify${search}`),
      await stage.authorize(''),
      await stage.callback(back.search),
      await server.call('GET', '/user', { token }),
    ]
    for (const { headers } of answers) {
      expect(headers.get('set-cookie')).toBeNull()
      expect(headers.get('access-control-allow-credentials')).toBeNull()
    }
    const names = ['sb-access-token', 'sb-127-auth-token', 'access_token', 'Authorization']
    const cookie = names.map((name) => `${name}=${token}`).join('; ')
    for (const [method, path] of [
      ['GET', '/user'],
      ['PUT', '/user'],
      ['POST', '/logout'],
      ['POST', '/factors'],
      ['GET', '/user/identities/authorize?provider=google'],
    ] as const) {
      const answer = await server.call(method, path, { headers: { cookie, origin } })
      expect([path, answer.status, answer.body.error_code]).toEqual([path, 401, 'no_authorization'])
    }
    expect((await server.call('GET', '/user', { token })).status).toBe(200)
  })

  test.each([
    ['application/x-www-form-urlencoded', `email=a%40example.com&password=${password}`],
    [
      'multipart/form-data; boundary=x',
      '--x\r\nContent-Disposition: form-data; name="email"\r\n\r\na@b.de\r\n--x--\r\n',
    ],
    ['text/plain', `email=a@example.com\r\npassword=${password}\r\n`],
  ])('attack 42: achieves nothing by a form of type %s', async (type, body) => {
    for (const path of ['/signup', '/token?grant_type=password', '/recover', '/otp', '/verify']) {
      const answer = await server.call('POST', path, { body, headers: { 'content-type': type, origin } })
      expect([path, answer.status, answer.body.error_code]).toEqual([path, 400, 'bad_json'])
    }
  })

  it('attack 42: gets no code that works for it when it begins the flow with a proof key, and no tokens', async () => {
    const landed = await stage.signIn(stage.newPerson(), `&code_challenge=${'x'.repeat(43)}&code_challenge_method=s256`)
    expect([landed.origin, landed.hash, [...landed.searchParams.keys()]]).toEqual([siteUrl, '', ['code']])
    const stolen = await stage.exchange(landed.searchParams.get('code') ?? '', 'y'.repeat(43))
    expect(stolen.body.error_code).toBe('bad_code_verifier')
  })
})
