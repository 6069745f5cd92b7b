import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { claimsOf, startAuthServer, type Answer } from '../../../support/auth.ts'
import { forSuite } from '../../../support/for-suite.ts'
import { codeOf, enrol, verify as factorVerified } from '../../../support/totp.ts'

const server = forSuite(startAuthServer, {
  settings: { mail_cooldown: '0', anonymous_enabled: 'on' },
  sql: 'create table public.owned (owner uuid references auth.users (id) on delete cascade)',
})

const password = 'correct horse'
const newAddress = (): string => `${randomUUID()}@example.com`
const post = (path: string, body: object): Promise<Answer> => server.call('POST', path, { body })
const put = (token: string, body: object): Promise<Answer> => server.call('PUT', '/user', { token, body })
const newest = async (email: string) => (await server.mails(email))[0] ?? { kind: '', url: '', code: '' }
const member = async () => {
  const email = newAddress()
  await post('/signup', { email, password })
  const { body } = await post('/verify', { type: 'signup', email, token: (await newest(email)).code })
  return { email, token: body.access_token as string, id: body.user.id as string }
}
const guest = async () => {
  const { body } = await post('/signup', { data: { cart: 1 } })
  await server.db.query('insert into public.owned values ($1)', [body.user.id])
  return { token: body.access_token as string, refresh: body.refresh_token as string, id: body.user.id as string }
}
const verify = (email: string, code: string) => post('/verify', { type: 'email_change', email, token: code })
const hash = (url: string) =>
  post('/verify', { type: 'email_change', token_hash: new URL(url).searchParams.get('token') })
const rowOf = async (id: string) =>
  (
    await server.db.query(
      'select email, email_change, is_anonymous, email_change_confirm_status as status from auth.users where id = $1',
      [id],
    )
  ).rows[0]

describe('a guest', () => {
  it('facts 21, 23, 24, attack 39: waits for the mail to an address that they give, and stays who they are', async () => {
    const { token, refresh, id } = await guest()
    const email = newAddress()
    const answer = await put(token, { email })
    expect(answer.body).toMatchObject({ id, new_email: email, is_anonymous: true })
    expect(answer.body).not.toHaveProperty('email')
    const mail = await newest(email)
    expect([mail.kind, new URL(mail.url).searchParams.get('type')]).toEqual(['email_change', 'email_change'])
    const { body } = await verify(email, mail.code)
    expect(body.user).toMatchObject({
      id,
      email,
      is_anonymous: false,
      user_metadata: { cart: 1, email_verified: true },
      app_metadata: { provider: 'email', providers: ['email'] },
    })
    expect(body.user.identities).toMatchObject([{ provider: 'email', identity_data: { email, email_verified: true } }])
    expect((await server.db.query('select from public.owned where owner = $1', [id])).rowCount).toBe(1)
    expect(claimsOf(token)['is_anonymous']).toBe(true)
    const next = await post('/token?grant_type=refresh_token', { refresh_token: refresh })
    expect(claimsOf(next.body.access_token)).toMatchObject({ is_anonymous: false, sub: id, email })
  })

  it('whose password came along signs in with it once the address is confirmed, and not before', async () => {
    const { token } = await guest()
    const email = newAddress()
    expect((await put(token, { email, password })).status).toBe(200)
    const signIn = () => post('/token?grant_type=password', { email, password })
    expect((await signIn()).status).toBe(400)
    expect((await verify(email, (await newest(email)).code)).status).toBe(200)
    expect((await signIn()).status).toBe(200)
  })

  it('may ask for the mail again', async () => {
    const { token } = await guest()
    const email = newAddress()
    await put(token, { email })
    const first = await newest(email)
    expect((await post('/resend', { type: 'email_change', email })).body).toEqual({})
    expect((await server.mails(email)).length).toBe(2)
    expect((await verify(email, first.code)).status).toBe(403)
    expect((await verify(email, (await newest(email)).code)).status).toBe(200)
  })

  it('fact 22: is none any more at once where nothing is confirmed, and members still are asked', async () => {
    const someone = await member()
    await server.set({ autoconfirm: 'on' })
    const { token, id } = await guest()
    const email = newAddress()
    const { body } = await put(token, { email, password })
    expect(body).toMatchObject({ id, email, is_anonymous: false, user_metadata: { email_verified: true } })
    expect([body.new_email, await server.mails(email)]).toEqual([undefined, []])
    expect((await post('/token?grant_type=password', { email, password })).status).toBe(200)
    const next = newAddress()
    expect((await put(someone.token, { email: next })).body).toMatchObject({ email: someone.email, new_email: next })
    await server.set({ autoconfirm: 'off' })
  })
})

describe('a member', () => {
  it('attack 40: needs both mailboxes, and one twice is not both', async () => {
    for (const order of ['new first', 'current first']) {
      const { email, token, id } = await member()
      const next = newAddress()
      await put(token, { email: next })
      const mails = [await newest(next), await newest(email)]
      const [first, second] = order === 'new first' ? mails : mails.reverse()
      const proceed = await hash(first?.url ?? '')
      expect([proceed.status, proceed.body]).toEqual([
        200,
        {
          msg: 'Confirmation link accepted. Please proceed to confirm link sent to the other email',
          code: '200',
        },
      ])
      expect(await rowOf(id)).toMatchObject({ email, email_change: next, status: 1 })
      expect((await hash(first?.url ?? '')).status).toBe(403)
      const done = await hash(second?.url ?? '')
      expect([done.status, done.body.user.email, done.body.user.new_email]).toEqual([200, next, undefined])
      expect(await rowOf(id)).toMatchObject({ email: next, email_change: '', status: 0 })
      expect((await post('/token?grant_type=password', { email, password })).status).toBe(400)
      expect((await post('/token?grant_type=password', { email: next, password })).status).toBe(200)
    }
  })

  it('attack 40: whose mailboxes confirm at once changes once', async () => {
    const { email, token, id } = await member()
    const next = newAddress()
    await put(token, { email: next })
    const [fresh, present] = [await newest(next), await newest(email)]
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_none, i) => (i % 2 === 0 ? verify(next, fresh.code) : verify(email, present.code))),
    )
    expect(answers.filter(({ body }) => body.access_token !== undefined)).toHaveLength(1)
    expect(answers.filter(({ body }) => body.code === '200')).toHaveLength(1)
    expect((await rowOf(id)).email).toBe(next)
  })

  it('attack 41: leaves no old link behind', async () => {
    const { email, token } = await member()
    await post('/recover', { email })
    const reset = await newest(email)
    const next = newAddress()
    await put(token, { email: next })
    await verify(email, (await newest(email)).code)
    await verify(next, (await newest(next)).code)
    const token_hash = new URL(reset.url).searchParams.get('token')
    expect((await post('/verify', { type: 'recovery', token_hash })).status).toBe(403)
  })

  it('is refused an address that another user took in the meantime, and nothing changes', async () => {
    await server.set({ secure_email_change: 'off' })
    const { email, token, id } = await member()
    const next = newAddress()
    await put(token, { email: next })
    expect(await server.mails(email)).toHaveLength(1)
    await post('/signup', { email: next, password })
    await server.db.query('update auth.users set email_confirmed_at = now() where email = $1', [next])
    expect((await put(token, { email: next })).body.error_code).toBe('email_exists')
    const change = (await server.mails(next)).find(({ kind }) => kind === 'email_change')
    expect((await hash(change?.url ?? '')).body).toMatchObject({ code: 422, error_code: 'email_exists' })
    expect(await rowOf(id)).toMatchObject({ email, email_change: next })
    await server.set({ secure_email_change: 'on' })
  })

  it('first of two learns so from the link too, and a proof key gets its code from the second', async () => {
    const { email, token } = await member()
    const next = newAddress()
    const verifier = 'w'.repeat(43)
    await put(token, { email: next, code_challenge: verifier, code_challenge_method: 'plain' })
    const open = async (url: string) =>
      new URL((await fetch(url, { redirect: 'manual' })).headers.get('location') ?? '')
    const first = await open((await newest(email)).url)
    expect(first.searchParams.get('message')).toMatch(/^Confirmation link accepted/)
    expect(first.hash).toMatch(/^#message=Confirmation\+link\+accepted.*&sb=$/)
    const second = await open((await newest(next)).url)
    const session = await post('/token?grant_type=pkce', {
      auth_code: second.searchParams.get('code'),
      code_verifier: verifier,
    })
    expect([session.status, session.body.user?.email]).toEqual([200, next])
  })
})

describe('attack 40: a change whose links an administrator made', () => {
  const linkOf = async (type: string, email: string, new_email: string): Promise<string> => {
    const { body } = await server.call('POST', '/admin/generate_link', {
      body: { type, email, new_email },
      token: server.serviceRole,
    })
    return body.action_link
  }
  const proofOf = async (id: string) =>
    (await server.db.query('select proof from catalograph_auth.address_proofs where user_id = $1', [id])).rows

  it.each(['email_change_current', 'email_change_new'])('is not finished by %s alone, however often', async (type) => {
    const { email, id } = await member()
    const next = newAddress()
    for (let times = 0; times < 2; times += 1) {
      expect((await hash(await linkOf(type, email, next))).body.code).toBe('200')
      expect(await rowOf(id)).toMatchObject({ email, email_change: next, status: 1 })
    }
    const other = type === 'email_change_new' ? 'email_change_current' : 'email_change_new'
    expect((await hash(await linkOf(other, email, next))).body.user.email).toBe(next)
    expect(await proofOf(id)).toEqual([{ proof: 'mailbox' }])
  })

  it('is mailed to the other mailbox when that is asked for', async () => {
    const { email } = await member()
    const next = newAddress()
    await hash(await linkOf('email_change_current', email, next))
    await post('/resend', { type: 'email_change', email })
    expect((await hash((await newest(next)).url)).body.user.email).toBe(next)
  })
})

describe('an address with an unconfirmed sign-up', () => {
  it('attack 47: is won by the guest who proves the mailbox, before or after the sign-up', async () => {
    for (const order of ['sign-up first', 'guest first']) {
      const { token, id } = await guest()
      const email = newAddress()
      const squat = () => post('/signup', { email, password })
      const squatter = order === 'sign-up first' ? await squat() : null
      expect((await put(token, { email, password: 'guest horse' })).status).toBe(200)
      const mine = await newest(email)
      const other = (squatter ?? (await squat())).body.id
      const { status, body } = await hash(mine.url)
      expect([order, status, body.user.id, body.user.email]).toEqual([order, 200, id, email])
      expect(
        (await server.db.query('select email, encrypted_password from auth.users where id = $1', [other])).rows,
      ).toEqual([{ email: null, encrypted_password: null }])
      expect((await server.call('GET', '/user', { token: body.access_token })).status).toBe(200)
      expect((await server.call('GET', '/user', { token })).body.error_code).toBe('session_not_found')
      for (const tried of [password, 'guest horse']) {
        expect((await post('/token?grant_type=password', { email, password: tried })).status).toBe(400)
      }
      const old = (await server.mails(email)).find(({ kind }) => kind === 'confirmation')
      const token_hash = new URL(old?.url ?? '').searchParams.get('token')
      expect((await post('/verify', { type: 'signup', token_hash })).status).toBe(403)
    }
  })

  it('is kept by an invited account, and by the account that confirmed it first', async () => {
    for (const kind of ['invited', 'confirmed']) {
      const { token, id } = await guest()
      const email = newAddress()
      await put(token, { email })
      const mine = await newest(email)
      await post('/signup', { email, password })
      const column = kind === 'invited' ? 'invited_at' : 'email_confirmed_at'
      await server.db.query(`update auth.users set ${column} = now() where email = $1`, [email])
      expect([kind, (await hash(mine.url)).body.error_code]).toEqual([kind, 'email_exists'])
      expect(await rowOf(id)).toMatchObject({ email: null, email_change: email })
    }
  })

  it('is not won where sign-ups are confirmed without a mail', async () => {
    const email = newAddress()
    await post('/signup', { email, password })
    await server.set({ autoconfirm: 'on' })
    const { token } = await guest()
    expect((await put(token, { email })).body.error_code).toBe('email_exists')
    await server.set({ autoconfirm: 'off' })
  })
})

describe('a pending change of address', () => {
  const ends = {
    'a sign-out everywhere': (token: string) => server.call('POST', '/logout', { token }),
    'a new password': (token: string) => put(token, { password: 'another horse' }),
    'a first verified factor': async (token: string) => {
      const factor = await enrol(server, token)
      return factorVerified(server, { token, factor, code: codeOf(factor.secret) })
    },
    'a ban that is over': async (token: string) => {
      const path = `/admin/users/${String(claimsOf(token)['sub'])}`
      const ban = (ban_duration: string) =>
        server.call('PUT', path, { token: server.serviceRole, body: { ban_duration } })
      await ban('1h')
      return ban('none')
    },
  }
  it.each(Object.keys(ends) as readonly (keyof typeof ends)[])('attack 46: does not outlive %s', async (end) => {
    for (const secure of ['on', 'off']) {
      await server.set({ secure_email_change: secure })
      const { email, token, id } = await member()
      const thief = newAddress()
      await put(token, { email: thief })
      await post('/recover', { email })
      const [mailed, reset] = [await newest(thief), await newest(email)]
      expect((await ends[end](token)).status).toBeLessThan(300)
      expect((await hash(mailed.url)).body.error_code).toBe('otp_expired')
      const token_hash = new URL(reset.url).searchParams.get('token')
      expect((await post('/verify', { type: 'recovery', token_hash })).body.error_code).toBe('otp_expired')
      await post('/resend', { type: 'email_change', email: thief })
      expect(await server.mails(thief)).toHaveLength(1)
      expect(await rowOf(id)).toMatchObject({ email, email_change: '', status: 0 })
    }
    await server.set({ secure_email_change: 'on' })
  })

  it('of a guest survives a sign-out, since it is their one way back', async () => {
    const { token, id } = await guest()
    const email = newAddress()
    await put(token, { email })
    await server.call('POST', '/logout', { token })
    expect((await hash((await newest(email)).url)).body.user).toMatchObject({ id, email })
  })
})
