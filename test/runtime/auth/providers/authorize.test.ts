import { describe, expect, it, onTestFinished, test } from 'vitest'
import { siteUrl } from '../../../support/auth.ts'
import { forSuite } from '../../../support/for-suite.ts'
import { locationOf, newVerifier, redirectUri, startGoogle } from '../../../support/google.ts'
import { sendAsItIs } from '../../../support/raw-request.ts'
import { google } from '../../../support/openid-provider.ts'

const stage = forSuite(startGoogle, 'userinfo', { redirect_allow_list: 'myapp://back,https://listed.example.com/**' })

const flows = async (): Promise<number> =>
  Number((await stage.server.db.query('select count(*) from auth.flow_state')).rows[0].count)

describe('GET /authorize', () => {
  test('fact 39: the callback is ours byte for byte, whatever host the request came to', async () => {
    const host = 'custom.example.org'
    const headers = { 'x-forwarded-host': host, host }
    const answer = await sendAsItIs(`${stage.server.url}/auth/v1/authorize?provider=google`, { headers })
    const url = new URL(answer.headers.location ?? '')
    expect(url.searchParams.get('redirect_uri')).toBe(redirectUri)
    expect(url.href.startsWith(`${stage.provider.issuer}/auth?`)).toBe(true)
  })

  test('fact 40: asks for openid email profile, and for extras', async () => {
    expect(locationOf(await stage.authorize('')).searchParams.get('scope')).toBe('openid email profile')
    const more = locationOf(await stage.authorize('&scopes=calendar,drive%20email'))
    expect(more.searchParams.get('scope')).toBe('openid email profile calendar drive')
  })

  it('passes what is free, and never what the flow rests on, in whatever case', async () => {
    const names =
      'STATE Client_Id redirect_URI response_type request_uri Code_Verifier scope NONCE code_challenge_METHOD'.split(
        ' ',
      )
    const bad = [...names, 'client_secret'].map((name) => `&${name}=x`).join('')
    const free = '&access_type=offline&prompt=consent&hd=x.com'
    const { searchParams } = locationOf(await stage.authorize(free + bad))
    expect(Object.fromEntries(searchParams)).toEqual({
      access_type: 'offline',
      prompt: 'consent',
      hd: 'x.com',
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
      nonce: expect.stringMatching(/^[\w-]{43}$/),
      client_id: google.clientId,
      redirect_uri: redirectUri,
      response_type: 'code',
      scope: 'openid email profile',
      state: expect.stringMatching(/^[0-9a-f-]{36}$/),
    })
  })

  it('binds the leg to the provider by a challenge and a nonce of its own, others for each flow', async () => {
    const { query } = newVerifier()
    const legs = await Promise.all([1, 2].map(async () => locationOf(await stage.authorize(query)).searchParams))
    for (const name of ['code_challenge', 'nonce', 'state']) {
      expect(new Set(legs.map((leg) => leg.get(name))).size).toBe(2)
      expect(query).not.toContain(legs[0]?.get(name))
    }
  })

  test('fact 34: refuses a destination on neither list, and keeps nothing', async () => {
    const before = await flows()
    const { status, body } = await stage.authorize('&redirect_to=https://evil.example.org')
    expect([status, body.error_code, body.msg]).toEqual([
      400,
      'validation_failed',
      'redirect_to is not the Site URL or on the allowed list',
    ])
    expect(await flows()).toBe(before)
  })

  test('attack 7: hostile destinations are refused here too', async () => {
    const hostile = [
      '//evil.example.org',
      `${siteUrl}.evil.example.org`,
      `${siteUrl}@evil.example.org`,
      'https:\\\\evil.example.org',
      'http://2130706433/',
      'HTTPS://listed.example.com/x',
      'https://listed.example.com:x@evil.example.org/',
      'https://lısted.example.com/',
      'javascript:alert(1)',
    ]
    for (const destination of hostile) {
      const { status, headers } = await stage.authorize(`&redirect_to=${encodeURIComponent(destination)}`)
      expect([destination, status, headers.get('location')]).toEqual([destination, 400, null])
    }
  })

  test('fact 58: other providers are not offered', async () => {
    const ask = async (name: string): Promise<unknown[]> => {
      const { status, body } = await stage.server.call('GET', `/authorize?provider=${name}`)
      return [status, body.error_code, body.msg]
    }
    expect(await ask('github')).toEqual([400, 'validation_failed', 'Unsupported provider: provider is not enabled'])
    const unknown = 'Unsupported provider: Provider x-y could not be found'
    expect(await ask('x-y')).toEqual([400, 'validation_failed', unknown])
    expect((await ask(''))[0]).toBe(400)
  })

  it('checks the proof key', async () => {
    const { status, body } = await stage.authorize('&code_challenge=short&code_challenge_method=s256')
    expect([status, body.msg]).toEqual([400, 'code challenge has to be between 43 and 128 characters'])
    expect((await stage.authorize('&code_challenge_method=s256')).status).toBe(400)
  })

  test('fact 37: Google is offered only with switch, id and secret', async () => {
    const sentences = [
      'Unsupported provider: provider is not enabled',
      'Unsupported provider: missing OAuth client ID',
      'Unsupported provider: missing OAuth secret',
    ]
    onTestFinished(() =>
      stage.server.set({ google_enabled: 'on', google_client_id: google.clientId, google_secret: google.secret }),
    )
    for (let bits = 0; bits < 8; bits += 1) {
      const [on, id, secret] = [(bits & 1) > 0, (bits & 2) > 0, (bits & 4) > 0]
      await stage.server.set({
        google_enabled: on ? 'on' : 'off',
        google_client_id: id ? google.clientId : '',
        google_secret: secret ? google.secret : '',
      })
      const { body } = await stage.server.call('GET', '/settings')
      const answer = await stage.authorize('')
      const missing = [on, id, secret].indexOf(false)
      expect([bits, body.external.google, answer.status]).toEqual([bits, missing < 0, missing < 0 ? 302 : 400])
      if (missing >= 0) expect(answer.body.msg).toBe(sentences[missing])
    }
  })
})
