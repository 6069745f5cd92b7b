import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, test } from 'vitest'
import { claimsOf, type Answer } from '../../support/auth.ts'
import { startGoogle, type GoogleStage, type Person } from '../../support/google.ts'
import { google } from '../../support/openid-provider.ts'
import { codeOf, enrol, verify } from '../../support/totp.ts'

let stage: GoogleStage
beforeAll(async () => {
  const settings = { autoconfirm: 'on', anonymous_enabled: 'on', manual_linking: 'on' }
  stage = await startGoogle('id-token', settings)
})
afterAll(() => stage?.stop())

const signUp = async (): Promise<{ token: string; id: string; email: string }> => {
  const email = `${randomUUID()}@example.com`
  const { body } = await stage.server.call('POST', '/signup', { body: { email, password: 'correct horse' } })
  return { token: body.access_token, id: body.user.id, email }
}
const guest = async (): Promise<{ token: string; id: string }> => {
  const { body } = await stage.server.call('POST', '/signup', { body: {} })
  return { token: body.access_token, id: body.user.id }
}
const ask = (token: string, query = ''): Promise<Answer> =>
  stage.server.call('GET', `/user/identities/authorize?provider=google${query}`, { token })
const link = async (token: string, { sub }: Person): Promise<URL> => {
  const { body } = await ask(token, `&skip_http_redirect=true&login_hint=${sub}`)
  const back = await stage.provider.visit(body.url)
  const { headers } = await stage.server.call('GET', `/callback${back.search}`, { headers: { apikey: '' } })
  return new URL(headers.get('location') ?? '')
}
const idTokenOf = ({ sub, email }: Person): Promise<string> => {
  const now = Math.floor(Date.now() / 1000)
  const about = { iss: stage.provider.issuer, aud: google.clientId, sub, email, email_verified: true }
  return stage.provider.sign({ ...about, iat: now, exp: now + 60 })
}
const unlink = (token: string, id: string): Promise<Answer> =>
  stage.server.call('DELETE', `/user/identities/${id}`, { token })
const refusalOf = ({ status, body }: Answer): unknown[] => [status, body.error_code]

describe('identities', () => {
  it('are linked to the account of the caller, which stays as it is', async () => {
    const [owner, person] = [await signUp(), stage.newPerson()]
    const landing = await link(owner.token, person)
    const token = new URLSearchParams(landing.hash.slice(1)).get('access_token') ?? ''
    expect(claimsOf(token)['sub']).toBe(owner.id)
    const user = await stage.userOf(owner.token)
    expect(user.identities.map(({ provider: name }: { provider: string }) => name)).toEqual(['email', 'google'])
    expect([user.email, user.app_metadata.providers]).toEqual([owner.email, ['email', 'google']])
    const asked = await ask(owner.token, '&scopes=calendar')
    expect(asked.status).toBe(302)
    expect(new URL(asked.headers.get('location') ?? '').searchParams.get('scope')).toMatch(/ calendar$/)
  })

  it('make a full user of a guest', async () => {
    const [owner, person] = [await guest(), stage.newPerson()]
    const landing = await link(owner.token, person)
    const token = new URLSearchParams(landing.hash.slice(1)).get('access_token') ?? ''
    expect(claimsOf(token)).toMatchObject({ sub: owner.id, is_anonymous: false, email: person.email })
    expect((await stage.userOf(token)).email_confirmed_at).toBeTruthy()
  })

  it('of a guest whose provider has not verified the address bring none', async () => {
    const owner = await guest()
    await link(owner.token, stage.newPerson({ email_verified: false }))
    const user = await stage.userOf(owner.token)
    expect(['email' in user, user.is_anonymous]).toEqual([false, false])
  })

  it('belong to one user', async () => {
    const [owner, other, person] = [await signUp(), await signUp(), stage.newPerson()]
    await link(owner.token, person)
    const again = (await link(owner.token, person)).searchParams
    expect([again.get('error_code'), again.get('error_description')]).toEqual([
      'identity_already_exists',
      'Identity is already linked',
    ])
    const stolen = (await link(other.token, person)).searchParams
    expect(stolen.get('error_description')).toBe('Identity is already linked to another user')
    const clash = (await link(other.token, stage.newPerson({ email: owner.email }))).searchParams
    expect(clash.get('error_code')).toBe('email_conflict_identity_not_deletable')
    expect((await stage.userOf(other.token)).identities).toHaveLength(1)
  })

  it('are linked by an ID token too', async () => {
    const owner = await signUp()
    const body = { provider: 'google', id_token: await idTokenOf(stage.newPerson()), link_identity: true }
    const alone = await stage.server.call('POST', '/token?grant_type=id_token', { body })
    expect(refusalOf(alone)).toEqual([401, 'no_authorization'])
    const linked = await stage.server.call('POST', '/token?grant_type=id_token', { body, token: owner.token })
    expect([linked.status, linked.body.user.id, linked.body.user.identities.length]).toEqual([200, owner.id, 2])
  })

  it('are unlinked, but never the last one and never somebody else’s', async () => {
    const [owner, other, person] = [await signUp(), await signUp(), stage.newPerson()]
    await link(owner.token, person)
    const [first, second] = (await stage.userOf(owner.token)).identities
    const foreign = (await stage.userOf(other.token)).identities[0]
    expect(refusalOf(await unlink(other.token, foreign.identity_id))).toEqual([422, 'single_identity_not_deletable'])
    expect(refusalOf(await unlink(owner.token, foreign.identity_id))).toEqual([422, 'identity_not_found'])
    expect(refusalOf(await unlink(owner.token, 'x'))).toEqual([404, 'validation_failed'])
    const both = await Promise.all([first, second].map(({ identity_id: id }) => unlink(owner.token, id)))
    expect(both.map(({ status }) => status).sort()).toEqual([200, 422])
    expect((await stage.userOf(owner.token)).identities).toHaveLength(1)
  })

  it('take the address along, when a different identity has a verified address', async () => {
    const [owner, person] = [await signUp(), stage.newPerson()]
    await link(owner.token, person)
    const [first] = (await stage.userOf(owner.token)).identities
    expect((await unlink(owner.token, first.identity_id)).status).toBe(200)
    const user = await stage.userOf(owner.token)
    expect([user.email, user.app_metadata]).toEqual([person.email, { provider: 'google', providers: ['google'] }])
  })

  test('attack 41: take what was mailed to the old address along too', async () => {
    const [owner, person] = [await signUp(), stage.newPerson()]
    await link(owner.token, person)
    await stage.server.call('POST', '/recover', { body: { email: owner.email } })
    const [mail] = await stage.server.mails(owner.email)
    const [first] = (await stage.userOf(owner.token)).identities
    expect((await unlink(owner.token, first.identity_id)).status).toBe(200)
    const token_hash = new URL(mail?.url ?? '').searchParams.get('token')
    const opened = await stage.server.call('POST', '/verify', { body: { type: 'recovery', token_hash } })
    expect(refusalOf(opened)).toEqual([403, 'otp_expired'])
  })

  test('attack 7: refuse a destination on neither list', async () => {
    const { token } = await signUp()
    expect((await ask(token, '&redirect_to=https://evil.example.org')).status).toBe(400)
  })

  it('cannot be touched while that is off, whatever else is wrong', async () => {
    const { token } = await signUp()
    await stage.server.set({ manual_linking: 'off' })
    onTestFinished(() => stage.server.set({ manual_linking: 'on' }))
    const { status, body } = await ask(token, '&redirect_to=https://evil.example.org')
    const disabled = [404, 'manual_linking_disabled', 'Manual linking is disabled']
    expect([status, body.error_code, body.msg]).toEqual(disabled)
    expect(refusalOf(await unlink(token, 'x'))).toEqual([404, 'manual_linking_disabled'])
    const byToken = { body: { provider: 'google', id_token: 'x', link_identity: true }, token }
    expect(refusalOf(await stage.server.call('POST', '/token?grant_type=id_token', byToken))).toEqual([
      404,
      'manual_linking_disabled',
    ])
  })

  it('need a session', async () => {
    expect((await stage.server.call('GET', '/user/identities/authorize?provider=google')).status).toBe(401)
  })
})

describe('with a verified factor, identities', () => {
  const signIn = async (email: string): Promise<string> =>
    (await stage.server.call('POST', '/token?grant_type=password', { body: { email, password: 'correct horse' } })).body
      .access_token
  const raise = async (token: string): Promise<string> => {
    const factor = await enrol(stage.server, token)
    return (await verify(stage.server, { token, factor, code: codeOf(factor.secret) })).body.access_token
  }
  /** The owner at aal2, and a thief who has the password alone. */
  const robbed = async () => {
    const owner = await signUp()
    const strong = await raise(owner.token)
    return { ...owner, old: owner.token, strong, weak: await signIn(owner.email) }
  }
  const low = [403, 'insufficient_aal']

  it('attack 45: are not linked from a session at aal1, nor by an older token of one at aal2', async () => {
    const { weak, old, strong } = await robbed()
    const body = { provider: 'google', id_token: await idTokenOf(stage.newPerson()), link_identity: true }
    for (const token of [weak, old]) {
      expect(refusalOf(await ask(token))).toEqual(low)
      expect(refusalOf(await stage.server.call('POST', '/token?grant_type=id_token', { body, token }))).toEqual(low)
    }
    expect((await stage.userOf(strong)).identities).toHaveLength(1)
    expect((await ask(strong)).status).toBe(302)
  })

  it('are not unlinked from a session at aal1', async () => {
    const { weak, old, strong, email } = await robbed()
    await link(strong, stage.newPerson())
    const [first] = (await stage.userOf(strong)).identities
    for (const token of [weak, old]) expect(refusalOf(await unlink(token, first.identity_id))).toEqual(low)
    expect(await stage.userOf(strong)).toMatchObject({ email })
    expect((await unlink(strong, first.identity_id)).status).toBe(200)
  })

  it('are not linked by a flow that began before the factor was verified, or whose session has ended', async () => {
    const refusals = {
      'another session verifies': 'bad_oauth_state',
      'its own session signs out': 'session_not_found',
      'its session is lowered': 'insufficient_aal',
    }
    for (const end of Object.keys(refusals) as readonly (keyof typeof refusals)[]) {
      const owner = await signUp()
      const thief = await signIn(owner.email)
      const person = stage.newPerson()
      const { body } = await ask(thief, `&skip_http_redirect=true&login_hint=${person.sub}`)
      const back = await stage.provider.visit(body.url)
      if (end === 'another session verifies') await raise(owner.token)
      else if (end === 'its own session signs out')
        await stage.server.call('POST', '/logout?scope=local', { token: thief })
      else {
        await stage.server.db.query(
          `insert into auth.mfa_factors (id, user_id, factor_type, status, created_at, updated_at)
          values (gen_random_uuid(), $1, 'totp', 'verified', now(), now())`,
          [owner.id],
        )
      }
      const { headers } = await stage.server.call('GET', `/callback${back.search}`, { headers: { apikey: '' } })
      const { searchParams } = new URL(headers.get('location') ?? '')
      const code = searchParams.get('error_code')
      expect([end, code]).toEqual([end, refusals[end]])
      const { rows } = await stage.server.db.query('select from auth.identities where user_id = $1', [owner.id])
      expect(rows).toHaveLength(1)
    }
  })
})
