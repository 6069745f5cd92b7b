import { describe, expect, it, onTestFinished, test } from 'vitest'
import { claimsOf, type Answer } from '../../../support/auth.ts'
import { forSuite } from '../../../support/for-suite.ts'
import { fragmentOf, locationOf, newVerifier, startGoogle } from '../../../support/google.ts'

const stage = forSuite(startGoogle, 'userinfo')

describe('the account of an identity', () => {
  const password = 'correct horse'
  const signUp = (email: string, data: object): Promise<Answer> =>
    stage.server.call('POST', '/signup', { body: { email, password, data } })
  const passwordWorks = async (email: string): Promise<boolean> =>
    (await stage.server.call('POST', '/token?grant_type=password', { body: { email, password } })).status === 200

  test('attack 1: an account that somebody else began is the owner’s alone', async () => {
    const person = stage.newPerson()
    await signUp(person.email, { evil: 1, name: 'Mallory' })
    const token = fragmentOf(await stage.signIn(person))['access_token'] ?? ''
    const user = await stage.userOf(token)
    expect(user.identities.map(({ provider: name }: { provider: string }) => name)).toEqual(['google'])
    expect(user.app_metadata).toEqual({ provider: 'google', providers: ['google'] })
    expect([user.user_metadata.name, 'evil' in user.user_metadata]).toEqual(['Ada', false])
    expect(await passwordWorks(person.email)).toBe(false)
    expect(await stage.byAddress(person.email)).toMatchObject({ encrypted_password: null, confirmation_token: '' })
  })

  test('attack 1: so it is where sign-ups confirm themselves, and what was left behind there ends', async () => {
    await stage.server.set({ autoconfirm: 'on', secure_email_change: 'off' })
    onTestFinished(() => stage.server.set({ autoconfirm: 'off', secure_email_change: 'on' }))
    const person = stage.newPerson()
    const { body } = await signUp(person.email, { evil: 1 })
    const { verifier, query } = newVerifier()
    await stage.server.db.query(
      `insert into auth.flow_state (id, user_id, auth_code, auth_code_issued_at, code_challenge,
          code_challenge_method, provider_type, authentication_method, created_at)
        values (gen_random_uuid(), $1, 'left', now(), $2, 's256', 'google', 'oauth', now())`,
      [body.user.id, new URLSearchParams(query).get('code_challenge')],
    )
    const change = `update auth.users set email_change = 'mallory@example.com' where id = $1`
    await stage.server.db.query(change, [body.user.id])
    await stage.server.db.query(
      `insert into auth.mfa_factors (id, user_id, factor_type, status, created_at, updated_at)
        values (gen_random_uuid(), $1, 'totp', 'verified', now(), now())`,
      [body.user.id],
    )
    const user = await stage.userOf(fragmentOf(await stage.signIn(person))['access_token'] ?? '')
    expect([user.id, user.factors, user.new_email]).toEqual([body.user.id, undefined, undefined])
    expect('evil' in user.user_metadata).toBe(false)
    expect(await passwordWorks(person.email)).toBe(false)
    expect((await stage.server.call('GET', '/user', { token: body.access_token })).status).toBe(403)
    const old = { refresh_token: body.refresh_token }
    expect((await stage.server.call('POST', '/token?grant_type=refresh_token', { body: old })).status).toBe(400)
    expect((await stage.exchange('left', verifier)).status).toBe(404)
  })

  it('links to an account that was proved, and changes nothing else of it', async () => {
    const person = stage.newPerson()
    const { body } = await signUp(person.email, { own: 1 })
    await stage.server.db.query('update auth.users set email_confirmed_at = now() where id = $1', [body.id])
    const user = await stage.userOf(fragmentOf(await stage.signIn(person))['access_token'] ?? '')
    expect([user.id, user.user_metadata.own]).toEqual([body.id, 1])
    expect(user.app_metadata).toEqual({ provider: 'email', providers: ['email', 'google'] })
    expect(await passwordWorks(person.email)).toBe(true)
  })

  test('attack 4: an address that the provider has not verified links to nothing', async () => {
    const person = stage.newPerson({ email_verified: false })
    const { body } = await stage.server.call('POST', '/signup', { body: { email: person.email, password } })
    await stage.server.db.query('update auth.users set email_confirmed_at = now() where id = $1', [body.id])
    const user = await stage.userOf(fragmentOf(await stage.signIn(person))['access_token'] ?? '')
    expect(user.id).not.toBe(body.id)
    expect('email' in user).toBe(false)
    expect(await passwordWorks(person.email)).toBe(true)
  })

  test('attack 4: nor does it open an account of its own before the mailbox says so', async () => {
    await stage.server.set({ autoconfirm: 'on' })
    onTestFinished(() => stage.server.set({ autoconfirm: 'off' }))
    const person = stage.newPerson({ email_verified: false })
    for (let round = 1; round <= 2; round += 1) {
      const { searchParams } = await stage.signIn(person)
      expect(searchParams.get('error')).toBe('access_denied')
      expect(searchParams.get('error_code')).toBe('provider_email_needs_verification')
      expect(await stage.server.mails(person.email)).toHaveLength(round)
      expect((await stage.byAddress(person.email)).email_confirmed_at).toBeNull()
    }
    const owner = stage.newPerson({ email: person.email })
    const user = await stage.userOf(fragmentOf(await stage.signIn(owner))['access_token'] ?? '')
    expect(user.identities.map(({ id }: { id: string }) => id)).toEqual([owner.sub])
  })

  test('attack 4: confirming the mailbox by other means does not let the first comer in', async () => {
    for (const path of ['/signup', '/recover']) {
      const stranger = stage.newPerson({ email_verified: false })
      await stage.signIn(stranger)
      await stage.server.call('POST', path, { body: { email: stranger.email, password } })
      const [mail] = await stage.server.mails(stranger.email)
      const { pathname, search } = new URL(mail?.url ?? '')
      const opened = await stage.server.call('GET', pathname.replace('/auth/v1', '') + search)
      const user = await stage.userOf(fragmentOf(locationOf(opened))['access_token'] ?? '')
      expect(user).toMatchObject({ email: stranger.email, app_metadata: { provider: 'email', providers: ['email'] } })
      expect(user.identities.map(({ provider: name }: { provider: string }) => name)).toEqual(['email'])
      const other = claimsOf(fragmentOf(await stage.signIn(stranger))['access_token'] ?? '')
      expect([other['sub'] === user.id, other['email']]).toEqual([false, ''])
    }
  })

  it('makes no account while sign-ups are closed', async () => {
    await stage.server.set({ disable_signup: 'on' })
    onTestFinished(() => stage.server.set({ disable_signup: 'off' }))
    const person = stage.newPerson()
    const { searchParams } = await stage.signIn(person)
    expect([searchParams.get('error'), searchParams.get('error_code')]).toEqual(['access_denied', 'signup_disabled'])
    expect(await stage.byAddress(person.email)).toBeUndefined()
  })
})
