import { afterAll, afterEach, beforeAll, describe, expect, it, test } from 'vitest'
import { signUp as io } from '../../../../runtime/auth/io/user.ts'
import { claimsOf, siteUrl, startAuthServer } from '../../../support/auth.ts'
import { forSuite } from '../../../support/for-suite.ts'

const server = forSuite(startAuthServer, {
  settings: { mail_cooldown: '0' },
  sql: `
      create table public.seen (id uuid, email text, meta jsonb, tag text);
      create function public.note() returns trigger language plpgsql security definer as $$
      begin
        if new.email = 'refused@example.com' then raise exception 'secret reason'; end if;
        if new.email = 'teapot@example.com' then raise sqlstate 'PT418'; end if;
        if new.raw_user_meta_data ? 'frozen' and tg_op = 'UPDATE' then raise sqlstate 'PT409'; end if;
        insert into public.seen values (new.id, new.email, new.raw_user_meta_data, tg_op
          || case when new.email_confirmed_at is null then '' else ' confirmed' end);
        return new;
      end $$;
      create trigger note after insert or update on auth.users for each row execute function public.note();`,
})

const signUp = (body: object, path = '/signup') => server.call('POST', path, { body })
const password = 'correct horse'
const countOf = async (email: string): Promise<number> =>
  (await server.db.query('select count(*)::int as n from auth.users where email = $1', [email])).rows[0].n

describe('POST /signup', () => {
  test.each([
    ['no password', { email: 'a@example.com' }, 400, 'validation_failed', 'Signup requires a valid password'],
    [
      'a weak one',
      { email: 'a@example.com', password: '12345' },
      422,
      'weak_password',
      'Password should be at least 6 characters.',
    ],
    [
      'one of 73 bytes',
      { email: 'a@example.com', password: 'ä'.repeat(37) },
      400,
      'validation_failed',
      'Password cannot be longer than 72 characters',
    ],
    [
      'half a PKCE pair',
      { email: 'a@example.com', password, code_challenge: 'x'.repeat(43) },
      400,
      'validation_failed',
      'PKCE flow requires code_challenge_method and code_challenge',
    ],
    [
      'a bad address',
      { email: ' a@example.com', password },
      400,
      'validation_failed',
      'Unable to validate email address: invalid format',
    ],
    [
      'a long address',
      { email: `${'a'.repeat(250)}@example.com`, password },
      400,
      'validation_failed',
      'An email address is too long',
    ],
    ['a telephone', { phone: '+15550100', password }, 400, 'phone_provider_disabled', 'Phone signups are disabled'],
    [
      'a telephone beside the address',
      { email: 'a@example.com', phone: '+15550100', password },
      400,
      'validation_failed',
      'Only an email address or phone number should be provided on signup.',
    ],
    [
      'a number as address',
      { email: 5, password },
      400,
      'bad_json',
      'Could not parse request body as JSON: email must be a string',
    ],
    [
      'NUL in a text',
      { email: 'a@example.com', password, data: { a: 'x\0' } },
      400,
      'bad_json',
      'Could not parse request body as JSON: a text holds characters that cannot be stored',
    ],
    ['nobody', {}, 422, 'anonymous_provider_disabled', 'Anonymous sign-ins are disabled'],
  ])('with %s is refused', async (_what, body, status, error_code, msg) => {
    const answer = await signUp(body)
    expect(answer.status).toBe(status)
    expect(answer.body).toMatchObject({ code: status, error_code, msg })
  })

  it('has the reasons of a weak password in both shapes', async () => {
    const body = { email: 'a@example.com', password: '1' }
    expect((await signUp(body)).body).toEqual({
      code: 422,
      error_code: 'weak_password',
      msg: 'Password should be at least 6 characters.',
      weak_password: { reasons: ['length'] },
    })
    const newer = await server.call('POST', '/signup', { body, version: '2024-01-01' })
    expect(newer.headers.get('x-supabase-api-version')).toBe('2024-01-01')
    expect(newer.headers.get('x-sb-error-code')).toBe('weak_password')
    expect(newer.body).toEqual({
      code: 'weak_password',
      message: 'Password should be at least 6 characters.',
      weak_password: { reasons: ['length'] },
    })
  })

  it('refuses a destination elsewhere before it looks an account up, and sends no mail', async () => {
    const answer = await signUp({ email: 'to@example.com', password }, '/signup?redirect_to=https://evil.example')
    expect(answer.body).toMatchObject({ code: 400, error_code: 'validation_failed' })
    expect([await countOf('to@example.com'), await server.mails('to@example.com')]).toEqual([0, []])
  })

  it('makes an unconfirmed user whom the first INSERT shows whole, and mails a link and a code', async () => {
    const { status, body } = await signUp({ email: 'New@Example.com', password, data: { name: 'N', sub: 'forged' } })
    expect(status).toBe(200)
    expect(body).toMatchObject({
      aud: 'authenticated',
      role: 'authenticated',
      email: 'new@example.com',
      phone: '',
      app_metadata: { provider: 'email', providers: ['email'] },
      user_metadata: {
        name: 'N',
        sub: body.id,
        email: 'new@example.com',
        email_verified: false,
        phone_verified: false,
      },
      identities: [{ id: body.id, provider: 'email', identity_data: { name: 'N', email_verified: false } }],
      is_anonymous: false,
    })
    expect(body).not.toHaveProperty('access_token')
    expect(body.confirmation_sent_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/)
    const { rows } = await server.db.query('select email, meta, tag from public.seen where id = $1', [body.id])
    expect(rows).toEqual([{ email: 'new@example.com', meta: body.user_metadata, tag: 'INSERT' }])
    const [mail] = await server.mails('new@example.com')
    expect(mail?.code).toMatch(/^\d{6}$/)
    const link = new URL(mail?.url ?? '')
    expect(link.origin + link.pathname).toBe(`${server.url}/auth/v1/verify`)
    expect(link.searchParams.get('token')).toMatch(/^[0-9a-f]{56}$/)
    expect([link.searchParams.get('type'), link.searchParams.get('redirect_to')]).toEqual(['signup', siteUrl])
    expect(
      (await server.call('POST', '/token?grant_type=password', { body: { email: 'new@example.com', password } })).body,
    ).toMatchObject({ code: 400, error_code: 'email_not_confirmed' })
  })

  it('attack 21: answers a second sign-up without a word about who was first', async () => {
    await signUp({ email: 'twice@example.com', password, data: { secret: 'of the first' } })
    const again = await signUp({ email: 'twice@example.com', password: 'other password', data: { mine: 1 } })
    expect(again.status).toBe(200)
    expect(JSON.stringify(again.body)).not.toContain('of the first')
    expect(again.body.user_metadata).toMatchObject({ mine: 1, email_verified: false })
    const [one, two] = (await server.mails('twice@example.com')).map(({ url }) => url)
    expect(one).not.toBe(two)
    const marks = 'select count(*)::int as n from catalograph_auth.ambiguous_passwords where user_id = $1'
    expect((await server.db.query(marks, [again.body.id])).rows).toEqual([{ n: 1 }])
  })

  it('attack 21: gives a confirmed account a fake that differs in nothing but the documented signs', async () => {
    const real = await signUp({ email: 'fresh@example.com', password, data: { a: 1 } })
    await signUp({ email: 'taken@example.com', password: 'the owner has this' })
    await server.db
      .query(`update auth.users set email_confirmed_at = now(), recovery_sent_at = now(), invited_at = now()
      where email = 'taken@example.com'`)
    const mailsBefore = (await server.mails('taken@example.com')).length
    const fake = await signUp({ email: 'taken@example.com', password, data: { a: 1 } })
    expect([fake.status, Object.keys(fake.body)]).toEqual([200, Object.keys(real.body)])
    expect(fake.body).toMatchObject({ role: '', identities: [], user_metadata: { a: 1 } })
    expect([...fake.headers.keys()].sort()).toEqual([...real.headers.keys()].sort())
    expect(fake.body.created_at).toMatch(/\.\d{6}Z$/)
    expect((await server.mails('taken@example.com')).length).toBe(mailsBefore)
    const ids = await server.db.query('select from auth.users where id = $1', [fake.body.id])
    expect(ids.rows).toEqual([])
  })

  it('says nothing of an invitation', async () => {
    await signUp({ email: 'invited@example.com', password })
    await server.db.query(`update auth.users set invited_at = now(), raw_user_meta_data = '{"from": "the boss"}'
      where email = 'invited@example.com'`)
    const { body } = await signUp({ email: 'invited@example.com', password, data: { x: 1 } })
    expect(body).toMatchObject({ user_metadata: {}, identities: [] })
    expect(body).not.toHaveProperty('invited_at')
  })

  it('attack 36: makes one user of twenty at once, and nobody meets a 500', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => signUp({ email: 'race@example.com', password })))
    const statuses = new Set(answers.map(({ status }) => status))
    expect(statuses).toContain(200)
    // Twenty hashes may outlast the time budget of a slow machine, and 504 says that nothing was done.
    expect([...statuses].filter((status) => status !== 200 && status !== 504)).toEqual([])
    expect(await countOf('race@example.com')).toBe(1)
  })

  it('rolls everything back when a trigger of the owner refuses, and keeps its words to itself', async () => {
    const answer = await signUp({ email: 'refused@example.com', password })
    expect(answer.body).toMatchObject({
      code: 500,
      error_code: 'unexpected_failure',
      msg: 'Database error saving new user',
    })
    expect(JSON.stringify(answer.body)).not.toContain('secret reason')
    expect([await countOf('refused@example.com'), await server.mails('refused@example.com')]).toEqual([0, []])
    expect((await signUp({ email: 'teapot@example.com', password })).status).toBe(418)
  })

  it('gives the status of such a trigger wherever a user changes', async () => {
    await server.set({ autoconfirm: 'on' })
    const token = (await signUp({ email: 'changing@example.com', password })).body.access_token
    await server.set({ autoconfirm: 'off' })
    const { status, body } = await server.call('PUT', '/user', { token, body: { data: { frozen: true } } })
    expect([status, body.error_code]).toEqual([409, 'unexpected_failure'])
  })

  it('keeps a PKCE flow for the link of the mail', async () => {
    const challenge = { code_challenge: 'x'.repeat(43), code_challenge_method: 'S256' }
    const { body } = await signUp({ email: 'pkce@example.com', password, ...challenge })
    const [mail] = await server.mails('pkce@example.com')
    expect(new URL(mail?.url ?? '').searchParams.get('token')).toMatch(/^pkce_[0-9a-f]{56}$/)
    const flows =
      'select authentication_method, provider_type, code_challenge_method from auth.flow_state where user_id = $1'
    expect((await server.db.query(flows, [body.id])).rows).toEqual([
      { authentication_method: 'email/signup', provider_type: 'email', code_challenge_method: 's256' },
    ])
  })

  describe('when addresses count as confirmed', () => {
    beforeAll(() => server.set({ autoconfirm: 'on' }))
    afterAll(() => server.set({ autoconfirm: 'off' }))

    it('signs in at once, and the database sees an unconfirmed user become a confirmed one', async () => {
      const { body } = await signUp({ email: 'auto@example.com', password })
      expect(body).toMatchObject({ token_type: 'bearer', expires_in: 3600, user: { email: 'auto@example.com' } })
      expect(body.user.user_metadata.email_verified).toBe(true)
      expect(claimsOf(body.access_token)).toMatchObject({
        iss: `${server.url}/auth/v1`,
        sub: body.user.id,
        aud: 'authenticated',
        role: 'authenticated',
        email: 'auto@example.com',
        aal: 'aal1',
        amr: [{ method: 'password' }],
        is_anonymous: false,
      })
      const { rows } = await server.db.query('select tag from public.seen where id = $1', [body.user.id])
      expect(rows.map(({ tag }) => tag).slice(0, 2)).toEqual(['INSERT', 'UPDATE confirmed'])
      expect(await server.mails('auto@example.com')).toEqual([])
    })

    it('attack 36: makes one user of ten at once, and refuses the others', async () => {
      const email = 'autorace@example.com'
      const answers = await Promise.all(Array.from({ length: 10 }, () => signUp({ email, password })))
      const others = answers.filter(({ status }) => status !== 200).map(({ body }) => body.error_code)
      expect([answers.length - others.length, await countOf(email)]).toEqual([1, 1])
      expect(others.filter((code) => code !== 'request_timeout' && code !== 'user_already_exists')).toEqual([])
    })

    it('does not open the account of another user who waits to be confirmed', async () => {
      await server.set({ autoconfirm: 'off' })
      await signUp({ email: 'waiting@example.com', password })
      await server.set({ autoconfirm: 'on' })
      const other = await signUp({ email: 'waiting@example.com', password: 'another password' })
      expect(other.body).toMatchObject({ code: 422, error_code: 'user_already_exists', msg: 'User already registered' })
      expect((await signUp({ email: 'waiting@example.com', password })).body).toHaveProperty('access_token')
      expect((await signUp({ email: 'waiting@example.com', password })).status).toBe(422)
    })
  })

  describe('without an address', () => {
    beforeAll(() => server.set({ anonymous_enabled: 'on' }))
    afterEach(() => server.set({ disable_signup: 'off' }))

    it('is another guest each time', async () => {
      const answers = await Promise.all([1, 2].map(() => signUp({ data: { nick: 'x' } })))
      expect(answers[0]?.body.user.id).not.toBe(answers[1]?.body.user.id)
      for (const { body } of answers) {
        expect(body.user).toMatchObject({
          is_anonymous: true,
          app_metadata: {},
          user_metadata: { nick: 'x' },
          identities: [],
        })
        expect(body.user).not.toHaveProperty('email')
        expect(claimsOf(body.access_token)).toMatchObject({ is_anonymous: true, role: 'authenticated', email: '' })
        expect(claimsOf(body.access_token)['amr']).toMatchObject([{ method: 'anonymous' }])
      }
    })

    const read = ['email', 'phone', 'data']
    it.each(Object.keys(io.body.members).filter((name) => !read.includes(name)))('does not read %s', async (name) => {
      const { status, body } = await signUp({ [name]: 7, data: { nick: 'x' } })
      expect([status, body.user?.user_metadata]).toEqual([200, { nick: 'x' }])
    })

    it('is refused while sign-ups are', async () => {
      await server.set({ disable_signup: 'on' })
      expect((await signUp({})).body).toMatchObject({ code: 422, error_code: 'signup_disabled' })
      expect((await signUp({ email: 'x@example.com', password })).body).toMatchObject({ error_code: 'signup_disabled' })
    })
  })
})
