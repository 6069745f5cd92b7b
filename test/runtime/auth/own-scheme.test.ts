import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { forSuite } from '../../support/for-suite.ts'
import { fragmentOf, locationOf, newVerifier, startGoogle } from '../../support/google.ts'

const site = 'myapp://home'

const stage = forSuite(startGoogle, 'id-token', { site_url: site, redirect_allow_list: 'myapp://listed' })

const newAddress = (): string => `${randomUUID()}@example.com`
const follow = async (url: string): Promise<URL> =>
  locationOf(await stage.server.call('GET', `/verify${new URL(url).search}`, { headers: { apikey: '' } }))
const placeOf = ({ href }: URL): string => href.replace(/[?#].*/, '')

describe("a site of an application's own scheme", () => {
  it.each([
    ['', site],
    [`redirect_to=${site}`, site],
    ['redirect_to=%2Fpath', site],
    ['redirect_to=myapp%3A%2F%2Flisted', 'myapp://listed'],
  ])('receives mailed links with a session: ?%s', async (query, place) => {
    const email = newAddress()
    const body = { email, password: 'correct horse' }
    expect((await stage.server.call('POST', `/signup?${query}`, { body })).status).toBe(200)
    const [mail] = await stage.server.mails(email)
    expect(new URL(mail?.url ?? '').searchParams.get('redirect_to')).toBe(place)
    const landed = await follow(mail?.url ?? '')
    expect(placeOf(landed)).toBe(place)
    expect(fragmentOf(landed)).toMatchObject({ access_token: expect.any(String), type: 'signup' })
  })

  it('receives what is wrong with a link', async () => {
    const landed = await follow(`https://project.example.com/verify?token=${'0'.repeat(56)}&type=signup`)
    expect(placeOf(landed)).toBe(site)
    expect(fragmentOf(landed)).toMatchObject({ error_code: 'otp_expired' })
  })

  it.each(['myapp://other', 'myapp://home/deep', 'https://home', 'javascript:alert(1)'])(
    'shares its scheme with no place that is not listed: %s',
    async (bad) => {
      const path = `/otp?redirect_to=${encodeURIComponent(bad)}`
      const answer = await stage.server.call('POST', path, { body: { email: newAddress() } })
      expect(answer).toMatchObject({ status: 400, body: { error_code: 'validation_failed' } })
    },
  )

  it('is named and linked in the mails', async () => {
    const email = newAddress()
    await stage.server.call('POST', '/signup', { body: { email, password: 'correct horse' } })
    const { rows } = await stage.server.db.query('select html from catalograph_auth.outbox where recipient = $1', [
      email,
    ])
    expect(rows[0].html).toContain(`<a href="${site}">${site}</a>`)
  })

  it('is where Google leads back to, with a session, a code or an error', async () => {
    const session = await stage.signIn(stage.newPerson())
    expect(placeOf(session)).toBe(site)
    expect(fragmentOf(session)).toMatchObject({ access_token: expect.any(String) })
    const { verifier, query } = newVerifier()
    const coded = await stage.signIn(stage.newPerson(), query)
    expect(placeOf(coded)).toBe(site)
    expect((await stage.exchange(coded.searchParams.get('code') ?? '', verifier)).status).toBe(200)
    const refused = locationOf(await stage.callback(''))
    expect(placeOf(refused)).toBe(site)
    expect(refused.searchParams.get('error_code')).toBe('bad_oauth_callback')
  })

  it('names second factors by its scheme', async () => {
    const body = { email: newAddress(), password: 'correct horse' }
    await stage.server.set({ autoconfirm: 'on' })
    const { access_token: token } = (await stage.server.call('POST', '/signup', { body })).body
    const factor = await stage.server.call('POST', '/factors', { body: { factor_type: 'totp' }, token })
    expect(new URL(factor.body.totp.uri).searchParams.get('issuer')).toBe('myapp')
  })
})
