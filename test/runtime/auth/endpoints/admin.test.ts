import { randomUUID } from 'node:crypto'
import { hash as bcrypt } from '@node-rs/bcrypt'
import type { SupabaseClient } from '@supabase/supabase-js'
import { beforeAll, describe, expect, it, onTestFinished, test } from 'vitest'
import { forSuite } from '../../../support/for-suite.ts'
import { startMailServer } from '../../../support/mail-server.ts'
import { createTestClient, startAuthServer, type CallOptions } from '../../../support/auth.ts'

let admin: SupabaseClient['auth']['admin']
const server = forSuite(startAuthServer, {
  settings: { redirect_allow_list: 'http://localhost:9999/**', mail_ceiling: '1000' },
  sql: `create table public.seen (id uuid, op text, meta jsonb);
      create function public.note() returns trigger language plpgsql security definer as $$ begin
        if new.email = 'refused@example.com' then raise exception 'secret reason'; end if;
        insert into public.seen values (new.id, tg_op, new.raw_user_meta_data);
        return new;
      end $$;
      create trigger note after insert or update on auth.users for each row execute function public.note();
      create table public.notes (owner uuid references auth.users (id) on delete cascade);`,
})
beforeAll(async () => {
  admin = createTestClient(server.url, server.serviceRole).auth.admin
})

const password = 'correct horse'
const fresh = (): string => `${randomUUID()}@example.com`
const call = (method: string, path: string, options: CallOptions = {}) =>
  server.call(method, path, { token: server.serviceRole, ...options })
const signIn = (email: string, given = password) =>
  server.call('POST', '/token?grant_type=password', { body: { email, password: given } })
const made = async (more: object = {}): Promise<{ id: string; email: string }> => {
  const email = fresh()
  const { data, error } = await admin.createUser({ email, password, email_confirm: true, ...more })
  if (error !== null) throw error
  return { id: data.user.id, email }
}
const one = async (sql: string, ...values: unknown[]): Promise<any> => (await server.db.query(sql, values)).rows[0]

describe('an admin endpoint', () => {
  const nobody = '6f1a3d0c-0b1f-4a53-9d1e-2f5a53c7b9aa'
  const paths = [
    ['POST', '/invite'],
    ['GET', '/admin/users'],
    ['POST', '/admin/users'],
    ['GET', `/admin/users/${nobody}`],
    ['PUT', `/admin/users/${nobody}`],
    ['DELETE', `/admin/users/${nobody}`],
    ['GET', `/admin/users/${nobody}/factors`],
    ['GET', `/admin/users/${nobody}/audit`],
    ['POST', '/admin/generate_link'],
    ['GET', '/admin/audit'],
  ] as const

  test.each(paths)('attack 24: %s %s is for administrators alone', async (method, path) => {
    const { email } = await made()
    const user = (await signIn(email)).body.access_token as string
    const body = method === 'GET' ? {} : { body: {} }
    for (const token of [user, server.anon]) {
      expect(await call(method, path, { token, ...body })).toMatchObject({
        status: 403,
        body: { error_code: 'not_admin', msg: 'User not allowed' },
      })
    }
    const none = await server.call(method, path, body)
    expect(none).toMatchObject({ status: 401, body: { error_code: 'no_authorization' } })
  })

  it('attack 24: the service key is no user', async () => {
    const answer = await call('GET', '/user')
    expect(answer).toMatchObject({
      status: 403,
      body: { error_code: 'bad_jwt', msg: 'invalid claim: missing sub claim' },
    })
  })

  test.each(['..%2fusers', 'x', '1', `${nobody}x`, "'%20or%20true--"])(
    'attack 30: an id like %s reaches nothing',
    async (id) => {
      for (const method of ['GET', 'PUT', 'DELETE']) {
        const answer = await call(method, `/admin/users/${id}`, method === 'GET' ? {} : { body: {} })
        expect(answer).toMatchObject({ status: 404, body: { error_code: 'validation_failed' } })
      }
      const { id: user } = await made()
      expect((await call('DELETE', `/admin/users/${user}/factors/${id}`)).status).toBe(404)
    },
  )

  test.each([
    ['POST', '/sso', 'saml_provider_disabled'],
    ['GET', '/admin/sso/providers', 'not_found'],
    ['GET', '/admin/oauth/clients', 'not_found'],
    ['GET', '/admin/custom-providers', 'not_found'],
  ])('%s %s is not offered', async (method, path, error_code) => {
    const answer = await call(method, path, method === 'POST' ? { body: {} } : {})
    expect(answer).toMatchObject({ status: 404, body: { error_code } })
  })
})

describe('POST /admin/users', () => {
  it('makes a user exactly as asked, in one INSERT, without a mail', async () => {
    const email = `Mixed.${randomUUID()}@Example.com`
    const id = randomUUID()
    const { data, error } = await admin.createUser({
      id,
      email,
      password: 'x',
      email_confirm: true,
      user_metadata: { name: 'N' },
      app_metadata: { plan: 'pro' },
      role: 'authenticated',
    })
    expect(error).toBeNull()
    expect(data.user).toMatchObject({ id, email: email.toLowerCase(), email_confirmed_at: expect.any(String) })
    expect(data.user?.user_metadata).toEqual({ name: 'N' })
    expect(data.user?.app_metadata).toEqual({ provider: 'email', providers: ['email'], plan: 'pro' })
    expect(data.user?.identities).toMatchObject([{ provider: 'email', id, identity_data: { email_verified: true } }])
    expect(await server.mails(email.toLowerCase())).toEqual([])
    expect(await one('select meta from public.seen where id = $1 and op = $2', id, 'INSERT')).toEqual({
      meta: { name: 'N' },
    })
    expect((await signIn(email, 'x')).status).toBe(200)
    expect(await one('select proof from catalograph_auth.address_proofs where user_id = $1', id)).toEqual({
      proof: 'admin',
    })
  })

  it('takes a hash from elsewhere, and a ban', async () => {
    const { email } = await made({ password: undefined, password_hash: await bcrypt(password, 4) })
    expect((await signIn(email)).status).toBe(200)
    const banned = await made({ ban_duration: '1h30m' })
    expect((await signIn(banned.email)).body).toMatchObject({ error_code: 'user_banned' })
  })

  it('leaves who has no password without one', async () => {
    const { email } = await made({ password: undefined })
    expect((await signIn(email, '')).body).toMatchObject({ error_code: 'invalid_credentials' })
  })

  const valid = 'valid@example.com'
  test.each([
    ['nobody', {}, 400, 'validation_failed', 'Cannot create a user without either an email or phone'],
    ['a telephone', { phone: '+15550100' }, 400, 'phone_provider_disabled', 'Phone signups are disabled'],
    ['a bad address', { email: 'x' }, 400, 'validation_failed', 'Unable to validate email address: invalid format'],
    [
      'both forms of a password',
      { email: valid, password, password_hash: '$2a$10$x' },
      400,
      'validation_failed',
      'Only a password or a password hash should be provided',
    ],
    [
      'a hash of no known make',
      { email: valid, password_hash: 'md5:abc' },
      400,
      'validation_failed',
      'The password hash must be one of bcrypt, Argon2 or Firebase scrypt',
    ],
    [
      'a password of 73 bytes',
      { email: valid, password: 'x'.repeat(73) },
      400,
      'validation_failed',
      'Password cannot be longer than 72 characters',
    ],
    ['a bad id', { email: valid, id: 'x' }, 400, 'validation_failed', 'ID must conform to the uuid v4 format'],
    [
      'the nil id',
      { email: valid, id: '00000000-0000-0000-0000-000000000000' },
      400,
      'validation_failed',
      'ID cannot be a nil uuid',
    ],
    [
      'a ban of no length',
      { email: valid, ban_duration: 'long' },
      400,
      'validation_failed',
      'ban_duration must be a duration such as 24h, or none',
    ],
    [
      'the owner’s refusal',
      { email: 'refused@example.com' },
      500,
      'unexpected_failure',
      'Database error saving new user',
    ],
  ])('with %s is refused', async (_what, body, status, error_code, msg) => {
    const answer = await call('POST', '/admin/users', { body })
    expect(answer).toMatchObject({ status, body: { error_code, msg } })
  })

  it('refuses an address and an id that are taken, races included', async () => {
    const { id, email } = await made()
    expect((await admin.createUser({ email: email.toUpperCase() })).error).toMatchObject({ code: 'email_exists' })
    expect((await admin.createUser({ email: fresh(), id })).error).toMatchObject({ code: 'user_already_exists' })
    const [raced, racedId] = [fresh(), randomUUID()]
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => call('POST', '/admin/users', { body: { email: raced } })),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(422)])
    const ids = await Promise.all(
      Array.from({ length: 10 }, () => call('POST', '/admin/users', { body: { email: fresh(), id: racedId } })),
    )
    expect(ids.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(422)])
  })
})

describe('GET /admin/users', () => {
  it('pages with headers that auth-js reads, page first', async () => {
    await Promise.all(
      Array.from({ length: 5 }, (_, index) => made({ user_metadata: { full_name: `Pageable ${index}` } })),
    )
    const second = await call('GET', '/admin/users?per_page=2&filter=pageable&page=2')
    expect(second.headers.get('x-total-count')).toBe('5')
    expect(second.headers.get('link')).toBe(
      '</admin/users?page=3&per_page=2&filter=pageable>; rel="next", </admin/users?page=3&per_page=2&filter=pageable>; rel="last"',
    )
    expect(second.body).toMatchObject({ aud: 'authenticated', users: [{}, {}] })
    const last = await call('GET', '/admin/users?page=3&per_page=2&filter=pageable')
    expect(last.headers.get('link')).toBe('</admin/users?page=3&per_page=2&filter=pageable>; rel="last"')
    expect(last.body.users).toHaveLength(1)
    const { data } = await admin.listUsers({ page: 1, perPage: 2 })
    expect(data).toMatchObject({ nextPage: 2, users: [{}, {}] })
    expect((await admin.listUsers()).data.users.length).toBeGreaterThan(4)
  })

  it('gives the newest first, and the oldest first when asked', async () => {
    const times = async (query: string): Promise<string[]> =>
      (await call('GET', `/admin/users${query}`)).body.users.map((user: { created_at: string }) => user.created_at)
    const newest = await times('')
    expect(newest).toEqual([...newest].sort().reverse())
    const oldest = await times('?sort=created_at%20asc')
    expect(oldest).toEqual([...oldest].sort())
  })

  it('takes page 0 for the first one', async () => {
    const [zero, first] = [await call('GET', '/admin/users?page=0'), await call('GET', '/admin/users?page=1')]
    expect([zero.status, zero.body, zero.headers.get('link')]).toEqual([200, first.body, first.headers.get('link')])
  })

  test.each(['page=00', 'page=x', 'per_page=-1', 'page=99999999999'])('refuses %s', async (query) => {
    const answer = await call('GET', `/admin/users?${query}`)
    expect(answer).toMatchObject({ status: 400, body: { error_code: 'validation_failed' } })
    expect(answer.body.msg).toMatch(/^Bad Pagination Parameters: /)
  })

  it('takes a filter for nothing but itself', async () => {
    expect((await call('GET', '/admin/users?filter=%25')).body.users).toEqual([])
  })
})

describe('PUT /admin/users/{id}', () => {
  it('merges metadata and sets role, ban and address at once', async () => {
    const { id } = await made({ user_metadata: { a: 1, b: 2 }, app_metadata: { x: 1 } })
    const email = fresh()
    const { data, error } = await admin.updateUserById(id, {
      email,
      user_metadata: { a: null, c: 3 },
      app_metadata: { x: null, y: 2 },
      ban_duration: '24h',
    })
    expect(error).toBeNull()
    expect(data.user).toMatchObject({ email, banned_until: expect.any(String) })
    expect(data.user?.user_metadata).toEqual({ b: 2, c: 3 })
    expect(data.user?.app_metadata).toEqual({ provider: 'email', providers: ['email'], y: 2 })
    expect(data.user?.identities).toMatchObject([{ identity_data: { email, email_verified: true } }])
    expect((await admin.updateUserById(id, { ban_duration: 'none' })).data.user).not.toHaveProperty('banned_until')
    expect((await signIn(email)).status).toBe(200)
  })

  it('ends every session with a new password, checks it by the rules, and withdraws pending codes', async () => {
    const { id, email } = await made()
    const { access_token: token } = (await signIn(email)).body
    await server.db.query(`update auth.users set recovery_token = 'abc' where id = $1`, [id])
    expect((await call('PUT', `/admin/users/${id}`, { body: { password: '1' } })).body).toMatchObject({
      error_code: 'weak_password',
    })
    expect((await call('PUT', `/admin/users/${id}`, { body: { password: 'another horse' } })).status).toBe(200)
    expect((await server.call('GET', '/user', { token })).body).toMatchObject({ error_code: 'session_not_found' })
    expect(await one('select recovery_token as token from auth.users where id = $1', id)).toEqual({ token: '' })
    expect([(await signIn(email)).status, (await signIn(email, 'another horse')).status]).toEqual([400, 200])
  })

  it('confirms a guest only together with an address', async () => {
    await server.set({ anonymous_enabled: 'on' })
    const { id } = (await server.call('POST', '/signup', { body: {} })).body.user
    const alone = await call('PUT', `/admin/users/${id}`, { body: { email_confirm: true } })
    expect(alone.body).toMatchObject({ is_anonymous: true })
    expect(alone.body).not.toHaveProperty('email_confirmed_at')
    const email = fresh()
    const both = await call('PUT', `/admin/users/${id}`, { body: { email, email_confirm: true } })
    expect(both.body).toMatchObject({ id, email, is_anonymous: false, app_metadata: { providers: ['email'] } })
    expect(both.body.user_metadata).toEqual({ email_verified: true })
    expect(both.body.email_confirmed_at).toEqual(expect.any(String))
  })

  it('takes nothing for a password when it is to change one, and for none when it makes an account', async () => {
    const { id, email } = await made({ password: '' })
    expect((await signIn(email)).status).toBe(400)
    const answer = await call('PUT', `/admin/users/${id}`, { body: { password: '', user_metadata: { a: 1 } } })
    expect([answer.status, answer.body.error_code]).toEqual([422, 'weak_password'])
    expect((await call('GET', `/admin/users/${id}`)).body.user_metadata).toEqual({})
  })

  it('refuses the address of another user, and a user that does not exist', async () => {
    const [mine, other] = [await made(), await made()]
    expect((await admin.updateUserById(mine.id, { email: other.email })).error).toMatchObject({ code: 'email_exists' })
    for (const method of ['GET', 'PUT', 'DELETE']) {
      const body = method === 'GET' ? {} : { body: {} }
      expect(await call(method, `/admin/users/${randomUUID()}`, body)).toMatchObject({
        status: 404,
        body: { error_code: 'user_not_found', msg: 'User not found' },
      })
    }
  })
})

describe('DELETE /admin/users/{id}', () => {
  it('attack 25: removes the user and all that hangs on them; tokens are refused at once', async () => {
    const { id, email } = await made()
    const { access_token: token, refresh_token } = (await signIn(email)).body
    await server.db.query('insert into public.notes values ($1)', [id])
    await server.db.query(
      `insert into auth.flow_state (id, auth_code, provider_type, authentication_method, user_id, linking_target_id)
      values (gen_random_uuid(), 'a', 'google', 'oauth', $1, null), (gen_random_uuid(), 'b', 'google', 'oauth', null, $1)`,
      [id],
    )
    expect(await call('DELETE', `/admin/users/${id}`)).toMatchObject({ status: 200, body: {} })
    expect((await server.call('GET', '/user', { token })).body).toMatchObject({
      code: 403,
      error_code: 'user_not_found',
    })
    const refresh = await server.call('POST', '/token?grant_type=refresh_token', { body: { refresh_token } })
    expect(refresh.body).toMatchObject({ error_code: 'refresh_token_not_found' })
    expect(await one('select count(*)::int as n from public.notes where owner = $1', id)).toEqual({ n: 0 })
    expect(await one('select count(*)::int as n from auth.refresh_tokens where user_id = $1', id)).toEqual({ n: 0 })
    const flows = 'select count(*)::int as n from auth.flow_state where $1::uuid in (user_id, linking_target_id)'
    expect(await one(flows, id)).toEqual({ n: 0 })
  })

  it('meets refreshes of the same user without a deadlock', async () => {
    const { id, email } = await made()
    const sessions = await Promise.all(Array.from({ length: 6 }, () => signIn(email)))
    const refresh = ({ body }: { body: { refresh_token: string } }) =>
      server.call('POST', '/token?grant_type=refresh_token', { body: { refresh_token: body.refresh_token } })
    const [deleted, ...refreshed] = await Promise.all([call('DELETE', `/admin/users/${id}`), ...sessions.map(refresh)])
    expect(deleted?.status).toBe(200)
    for (const { status } of refreshed) expect([200, 400]).toContain(status)
    expect(await one('select count(*)::int as n from auth.refresh_tokens where user_id = $1', id)).toEqual({ n: 0 })
  })

  it('softly keeps the row without a trace of the person, who may come back as a new user', async () => {
    const { id, email } = await made({ user_metadata: { secret: 'trace' } })
    const { access_token: token } = (await signIn(email)).body
    await server.db.query('insert into public.notes values ($1)', [id])
    expect((await admin.deleteUser(id, true)).error).toBeNull()
    expect((await server.call('GET', '/user', { token })).body).toMatchObject({ error_code: 'user_not_found' })
    expect((await signIn(email)).body).toMatchObject({ error_code: 'invalid_credentials' })
    const row = await one(
      `select to_jsonb(u)::text || (select jsonb_agg(to_jsonb(i)) from auth.identities i where i.user_id = u.id)::text as text,
        deleted_at is not null as deleted, (select count(*)::int from auth.sessions s where s.user_id = u.id) as sessions
      from auth.users u where id = $1`,
      id,
    )
    expect(row).toMatchObject({ deleted: true, sessions: 0 })
    expect(row.text).not.toContain('trace')
    expect(row.text).not.toContain(email)
    expect(await one('select count(*)::int as n from public.notes where owner = $1', id)).toEqual({ n: 1 })
    expect((await admin.createUser({ email })).data.user?.id).not.toBe(id)
    const left = (await admin.getUserById(id)).data.user
    expect(left).toMatchObject({ id, deleted_at: expect.any(String), user_metadata: {} })
    expect(JSON.stringify(left)).not.toMatch(new RegExp(`trace|${email}`))
    expect((await call('GET', '/admin/users')).body.users.map((user: { id: string }) => user.id)).not.toContain(id)
    expect((await call('PUT', `/admin/users/${id}`, { body: {} })).body).toMatchObject({ error_code: 'user_not_found' })
    expect((await call('DELETE', `/admin/users/${id}`, { body: { should_soft_delete: false } })).status).toBe(200)
    expect((await admin.getUserById(id)).error).toMatchObject({ code: 'user_not_found' })
    expect(await one('select count(*)::int as n from auth.users where id = $1', id)).toEqual({ n: 0 })
  })

  it('attack 25: a banned user is refused at once, and one whose session ended', async () => {
    const { id, email } = await made()
    const { access_token: token } = (await signIn(email)).body
    await admin.updateUserById(id, { ban_duration: '1h' })
    expect((await server.call('GET', '/user', { token })).body).toMatchObject({ code: 403, error_code: 'user_banned' })
    await admin.updateUserById(id, { ban_duration: 'none' })
    expect((await server.call('GET', '/user', { token })).status).toBe(200)
    await server.call('POST', '/logout', { token })
    expect((await server.call('GET', '/user', { token })).body).toMatchObject({ error_code: 'session_not_found' })
  })
})

describe('factors of a user', () => {
  const factorOf = async (user: string, name: string): Promise<string> => {
    const id = randomUUID()
    await server.db.query(
      `insert into auth.mfa_factors (id, user_id, friendly_name, factor_type, status, secret, created_at, updated_at)
      values ($1, $2, $3, 'totp', 'verified', 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ', now(), now())`,
      [id, user, name],
    )
    return id
  }

  it('are listed bare, renamed, and removed with the level of their sessions', async () => {
    const { id: userId, email } = await made()
    const session = (await signIn(email)).body
    const [id, other] = [await factorOf(userId, 'first'), await factorOf(userId, 'second')]
    await server.db.query(`update auth.sessions set aal = 'aal2', factor_id = $2 where user_id = $1`, [userId, id])
    await server.db.query(
      `insert into auth.mfa_amr_claims (id, session_id, created_at, updated_at, authentication_method)
      select gen_random_uuid(), id, now() - interval '1 hour', now() - interval '1 hour', 'totp'
      from auth.sessions where user_id = $1`,
      [userId],
    )
    const listed = await call('GET', `/admin/users/${userId}/factors`)
    expect(listed.body).toMatchObject([
      { id, friendly_name: 'first', factor_type: 'totp', status: 'verified' },
      { id: other },
    ])
    expect(JSON.stringify(listed.body)).not.toContain('GEZDGNBV')
    const path = `/admin/users/${userId}/factors/${id}`
    expect((await call('PUT', path, { body: { friendly_name: 'new' } })).body).toMatchObject({
      id,
      friendly_name: 'new',
    })
    expect((await call('PUT', path, { body: { friendly_name: 'x'.repeat(256) } })).status).toBe(400)
    expect((await call('PUT', path, { body: { friendly_name: 'second' } })).body).toMatchObject({
      code: 422,
      error_code: 'mfa_factor_name_conflict',
    })
    const stranger = await made()
    expect(await call('DELETE', `/admin/users/${stranger.id}/factors/${id}`)).toMatchObject({
      status: 404,
      body: { error_code: 'mfa_factor_not_found' },
    })
    const { data, error } = await admin.mfa.deleteFactor({ id, userId })
    // auth-js wraps this answer twice.
    expect([error, data]).toMatchObject([null, { data: { id } }])
    const { body } = await server.call('POST', '/token?grant_type=refresh_token', {
      body: { refresh_token: session.refresh_token },
    })
    expect(JSON.parse(Buffer.from(body.access_token.split('.')[1], 'base64url').toString())).toMatchObject({
      aal: 'aal1',
    })
    expect((await admin.mfa.listFactors({ userId })).data?.factors).toMatchObject([{ id: other }])
  })
})

describe('POST /invite', () => {
  it('makes an invited user with exactly the data, and mails a link', async () => {
    const email = fresh()
    const invited = await admin.inviteUserByEmail(email, {
      data: { team: 'red' },
      redirectTo: 'http://localhost:9999/in',
    })
    expect(invited.error).toBeNull()
    expect(invited.data.user).toMatchObject({ email, invited_at: expect.any(String), user_metadata: { team: 'red' } })
    const [mail] = await server.mails(email)
    expect(mail?.kind).toBe('invite')
    const url = new URL(mail?.url ?? '')
    expect(Object.fromEntries(url.searchParams)).toMatchObject({
      type: 'invite',
      redirect_to: 'http://localhost:9999/in',
    })
    expect(url.searchParams.get('token')).toBe(
      (await one('select confirmation_token as token from auth.users where email = $1', email)).token,
    )
  })

  it('invites again a user who has not come yet, not one who has; an earlier password ends', async () => {
    const email = fresh()
    await server.call('POST', '/signup', { body: { email, password } })
    await server.db.query(`update catalograph_auth.cooldowns set sent_at = sent_at - interval '1 hour'`)
    expect((await call('POST', '/invite', { body: { email } })).body).toMatchObject({ invited_at: expect.any(String) })
    expect(
      await one(
        `select count(*)::int as n from catalograph_auth.ambiguous_passwords a join auth.users u on u.id = a.user_id
        where u.email = $1`,
        email,
      ),
    ).toEqual({ n: 1 })
    const known = await made()
    expect((await call('POST', '/invite', { body: { email: known.email } })).body).toMatchObject({
      code: 422,
      error_code: 'email_exists',
    })
    expect((await call('POST', '/invite', { body: {} })).body).toMatchObject({ error_code: 'validation_failed' })
  })
})

describe('POST /admin/generate_link', () => {
  const link = (body: object) => call('POST', '/admin/generate_link', { body })

  it('gives what the mail would hold, and mails nothing', async () => {
    const { id, email } = await made()
    const { data, error } = await admin.generateLink({
      type: 'recovery',
      email,
      options: { redirectTo: 'http://localhost:9999/welcome' },
    })
    expect(error).toBeNull()
    expect(data.user).toMatchObject({ id, email, recovery_sent_at: expect.any(String) })
    expect(data.properties).toMatchObject({
      email_otp: expect.stringMatching(/^\d{6}$/),
      hashed_token: expect.stringMatching(/^[0-9a-f]{56}$/),
      verification_type: 'recovery',
      redirect_to: 'http://localhost:9999/welcome',
    })
    const url = new URL(data.properties?.action_link ?? '')
    expect(`${url.origin}${url.pathname}`).toBe(`${server.url}/auth/v1/verify`)
    expect(Object.fromEntries(url.searchParams)).toEqual({
      token: data.properties?.hashed_token,
      type: 'recovery',
      redirect_to: 'http://localhost:9999/welcome',
    })
    expect(await server.mails(email)).toEqual([])
  })

  it('signs up by signup, invite and, for the unknown, magiclink', async () => {
    const [a, b, c] = [fresh(), fresh(), fresh()]
    expect((await link({ type: 'signup', email: a, password, data: { x: 1 } })).body).toMatchObject({
      verification_type: 'signup',
      user_metadata: { x: 1 },
    })
    expect((await link({ type: 'invite', email: b })).body).toMatchObject({ invited_at: expect.any(String) })
    const magic = await link({ type: 'magiclink', email: c })
    expect(magic.body).toMatchObject({ email: c, verification_type: 'signup' })
    expect(await one('select encrypted_password as hash from auth.users where email = $1', c)).toEqual({ hash: null })
    // The same password again is the administrator's own.
    expect((await link({ type: 'signup', email: a, password })).status).toBe(200)
    const marks = 'select count(*)::int as n from catalograph_auth.ambiguous_passwords where user_id = $1'
    const { id } = await one('select id from auth.users where email = $1', a)
    expect(await one(marks, id)).toEqual({ n: 0 })
    expect((await link({ type: 'signup', email: a, password: 'another horse' })).status).toBe(200)
    expect(await one(marks, id)).toEqual({ n: 1 })
  })

  it('gives each side of a change of address the token of its own mailbox', async () => {
    const { id, email } = await made()
    const new_email = fresh()
    const current = (await link({ type: 'email_change_current', email, new_email })).body
    const next = (await link({ type: 'email_change_new', email, new_email })).body
    expect([current.verification_type, next.verification_type]).toEqual(['email_change_current', 'email_change_new'])
    expect(new URL(next.action_link).searchParams.get('type')).toBe('email_change')
    const row = await one(
      `select email_change, email_change_token_current as current, email_change_token_new as next from auth.users
      where id = $1`,
      id,
    )
    expect(row).toEqual({ email_change: new_email, current: current.hashed_token, next: next.hashed_token })
    await link({ type: 'email_change_new', email, new_email: fresh() })
    expect(await one('select email_change_token_current as current from auth.users where id = $1', id)).toEqual({
      current: '',
    })
  })

  it('refuses what cannot be', async () => {
    const { email } = await made()
    const refused = async (body: object): Promise<unknown[]> => {
      const answer = await link(body)
      return [answer.status, answer.body.error_code, answer.body.msg]
    }
    const unknown = [404, 'user_not_found', 'User with this email not found']
    expect(await refused({ type: 'recovery', email: fresh() })).toEqual(unknown)
    expect(await refused({ type: 'email_change_new', email: fresh(), new_email: fresh() })).toEqual(unknown)
    expect((await refused({ type: 'signup', email, password })).slice(0, 2)).toEqual([422, 'email_exists'])
    expect((await refused({ type: 'invite', email })).slice(0, 2)).toEqual([422, 'email_exists'])
    const taken = (await made()).email
    expect((await refused({ type: 'email_change_new', email, new_email: taken })).slice(0, 2)).toEqual([
      422,
      'email_exists',
    ])
    expect((await refused({ type: 'nonsense', email })).slice(0, 2)).toEqual([400, 'validation_failed'])
    expect((await refused({ type: 'toString', email })).slice(0, 2)).toEqual([400, 'validation_failed'])
    expect(await refused({ type: 'signup', email: fresh() })).toEqual([
      400,
      'validation_failed',
      'Signup requires a valid password',
    ])
    expect((await refused({ type: 'recovery', email, redirect_to: 'https://evil.example' })).slice(0, 2)).toEqual([
      400,
      'validation_failed',
    ])
  })
})

describe('a link that an administrator had made', () => {
  const verify = (type: string, token_hash: string) => server.call('POST', '/verify', { body: { type, token_hash } })
  const linkFor = async (body: object): Promise<any> => (await call('POST', '/admin/generate_link', { body })).body

  it('signs in once, and so does its code', async () => {
    const { email, id } = await made()
    const first = await linkFor({ type: 'magiclink', email })
    expect(await verify('magiclink', first.hashed_token)).toMatchObject({ status: 200, body: { user: { id } } })
    expect(await verify('magiclink', first.hashed_token)).toMatchObject({
      status: 403,
      body: { error_code: 'otp_expired' },
    })
    const second = await linkFor({ type: 'recovery', email })
    const body = { type: 'recovery', email, token: second.email_otp }
    expect(await server.call('POST', '/verify', { body })).toMatchObject({ status: 200, body: { user: { id } } })
  })

  it('confirms who was invited or signed up, and keeps the password that is the administrator’s', async () => {
    const [invited, signed] = [fresh(), fresh()]
    const invitation = await linkFor({ type: 'invite', email: invited, data: { team: 'red' } })
    expect((await verify('invite', invitation.hashed_token)).body.user).toMatchObject({
      email: invited,
      email_confirmed_at: expect.any(String),
      user_metadata: { team: 'red' },
    })
    const signUp = await linkFor({ type: 'signup', email: signed, password })
    expect((await verify('signup', signUp.hashed_token)).status).toBe(200)
    expect((await signIn(signed)).status).toBe(200)
  })

  it('attack 2: ends the password of somebody who signed up before the invitation', async () => {
    const email = fresh()
    await server.call('POST', '/signup', { body: { email, password, data: { evil: true } } })
    const { hashed_token } = await linkFor({ type: 'invite', email })
    const { body } = await verify('invite', hashed_token)
    expect(body.user.user_metadata).not.toHaveProperty('evil')
    expect((await signIn(email)).body).toMatchObject({ error_code: 'invalid_credentials' })
  })

  it('changes an address once both mailboxes have agreed', async () => {
    const { email, id } = await made()
    const new_email = fresh()
    const current = await linkFor({ type: 'email_change_current', email, new_email })
    const next = await linkFor({ type: 'email_change_new', email, new_email })
    expect((await verify('email_change', next.hashed_token)).body).toMatchObject({ code: '200' })
    expect((await verify('email_change', next.hashed_token)).status).toBe(403)
    expect((await verify('email_change', current.hashed_token)).body.user).toMatchObject({ id, email: new_email })
  })
})

describe('GET /admin/audit', () => {
  it('shows who did what, newest first, in pages', async () => {
    const { id, email } = await made()
    await signIn(email)
    const mine = await call('GET', `/admin/audit?query=author:${email}&per_page=1`)
    expect(mine.headers.get('x-total-count')).toBe('1')
    expect(mine.body).toMatchObject([
      {
        id: expect.any(String),
        payload: { action: 'login', actor_id: id, log_type: 'account' },
        ip_address: '127.0.0.1',
      },
    ])
    const created = await call('GET', '/admin/audit?query=action:user_signedup')
    expect(created.body[0].payload).toMatchObject({
      actor_username: 'service_role',
      traits: { user_id: id, user_email: email },
    })
    expect((await call('GET', '/admin/audit?query=type:team')).body.length).toBeGreaterThan(0)
    expect((await call('GET', '/admin/audit?query=nonsense:x')).status).toBe(400)
    expect((await call('GET', '/admin/audit')).headers.get('link')).toMatch(/^<\/admin\/audit\?page=/)
  })

  it.each([
    ['/admin/users', 'auth.users'],
    ['/admin/audit', 'auth.audit_log_entries'],
  ])('%s counts up to a million rows, and takes what Postgres estimates above', async (path, table) => {
    const estimate = (rows: number): Promise<unknown> =>
      server.db
        .superuser('writes an estimate to the catalogue')
        .query('update pg_class set reltuples = $1 where oid = $2::regclass', [rows, table])
    const total = async (): Promise<unknown> => (await call('GET', path)).headers.get('x-total-count')
    const { rows } = await server.db.query(`select count(*)::text as count from ${table}`)
    await estimate(1_000_000)
    const counted = await total()
    await estimate(3_000_000)
    const estimated = await total()
    await estimate(-1)
    expect([counted, estimated]).toEqual([rows[0]?.['count'], '3000000'])
  })

  it('shows what one user did and what was done to them, and nothing of others', async () => {
    const [{ id, email }, other] = [await made(), await made()]
    await signIn(email)
    await signIn(other.email)
    await call('PUT', `/admin/users/${id}`, { body: { ban_duration: '1h' } })
    const { body, headers } = await call('GET', `/admin/users/${id.toUpperCase()}/audit`)
    const actions = body.map(({ payload }: { payload: { action: string } }) => payload.action)
    expect(actions).toEqual(['user_modified', 'login', 'user_signedup'])
    expect([headers.get('x-total-count'), headers.get('link')]).toEqual([
      '3',
      `</admin/users/${id}/audit?page=1&per_page=50>; rel="last"`,
    ])
    expect((await call('GET', `/admin/users/${id}/audit?page=2&per_page=2`)).body).toHaveLength(1)
    expect((await call('GET', '/admin/users/6f1a3d0c-0b1f-4a53-9d1e-2f5a53c7b9aa/audit')).status).toBe(404)
  })

  it('holds no password, code or token', async () => {
    const { body } = await call('GET', '/admin/audit?per_page=1000')
    const text = JSON.stringify(body)
    for (const secret of [password, '$2a$', 'eyJ']) expect(text).not.toContain(secret)
  })
})

it('attack 33: an invitation whose mail is refused leaves everything as it was', async () => {
  const mails = await startMailServer()
  const own = await startAuthServer({ smtpUrl: mails.url, settings: { mail_cooldown: '0' } })
  const invite = (email: string) => own.call('POST', '/invite', { token: own.serviceRole, body: { email } })
  const rows = async (email: string): Promise<unknown> =>
    (await own.db.query('select confirmation_token, invited_at from auth.users where email = $1', [email])).rows
  onTestFinished(async () => {
    await own.stop()
    await mails.stop()
  })
  const [stranger, waiting] = [fresh(), fresh()]
  expect((await invite(waiting)).status).toBe(200)
  const before = await rows(waiting)
  mails.behave('refuse')
  for (const email of [stranger, waiting]) {
    expect((await invite(email)).body).toMatchObject({ code: 500, msg: 'Error sending invite email' })
  }
  expect([await rows(stranger), await rows(waiting)]).toEqual([[], before])
  mails.behave('accept')
  expect([(await invite(stranger)).status, (await invite(waiting)).status]).toEqual([200, 200])
  expect(mails.received).toHaveLength(3)
})
