import { randomUUID } from 'node:crypto'
import { jwtVerify } from 'jose'
import { describe, expect, it } from 'vitest'
import { forSuite } from '../support/for-suite.ts'
import { codeOf } from '../support/totp.ts'
import { claimsOf, startAuthServer } from '../support/auth.ts'
import { postGraphql } from '../support/post-graphql.ts'

/** Facts about users and their tokens on which an application can rely (spec/auth.md 15 and 16). */

const server = forSuite(startAuthServer, {
  settings: { autoconfirm: 'on', anonymous_enabled: 'on' },
  sql: `
      comment on schema public is '@graphql({"inflect_names": true})';
      create table public.profiles (
        user_id uuid primary key references auth.users (id) on delete cascade,
        nickname text not null
      );
      create table public.vaults (
        id int generated always as identity primary key,
        owner uuid not null,
        note text not null
      );
      alter table public.vaults enable row level security;
      create policy strong on public.vaults for select to authenticated
        using (owner = (select auth.uid()) and (select auth.jwt() ->> 'aal') = 'aal2');
      create function public.whoami() returns text language sql stable as $$ select auth.uid()::text $$;
      grant usage on schema public to anon, authenticated;
      grant select on public.vaults to authenticated;`,
})

const password = 'correct horse'
const signUp = async (more: object = {}): Promise<{ token: string; id: string; email: string; text: string }> => {
  const email = `${randomUUID()}@example.com`
  const { body } = await server.call('POST', '/signup', { body: { email, password, ...more } })
  return { token: body.access_token, id: body.user.id, email, text: JSON.stringify(body) }
}
const guest = async (data: object = {}): Promise<any> => (await server.call('POST', '/signup', { body: { data } })).body
const graphql = async (query: string, token: string | null): Promise<any> => {
  const response = await postGraphql(server, { query }, { ...(token !== null && { authorization: `Bearer ${token}` }) })
  return response.json()
}
const notes = '{ vaultsCollection { edges { node { note } } } }'

describe('an application', () => {
  it('fact 1: finds auth under /auth/v1 and nowhere else', async () => {
    const at = (path: string) => fetch(`${server.url}${path}`, { headers: { apikey: server.anon } })
    expect((await at('/auth/v1/settings')).status).toBe(200)
    for (const path of ['/settings', '/auth/settings', '/v1/settings', '/auth/v2/settings']) {
      expect((await at(path)).status).toBe(404)
    }
  })

  it('facts 4 and 5: finds users, sessions and factors in schema auth, and joins them with its own tables', async () => {
    const { id, token } = await signUp()
    await server.call('POST', '/factors', { token, body: { factor_type: 'totp' } })
    await server.db.query('insert into public.profiles values ($1, $2)', [id, 'Nick'])
    const { rows } = await server.db.query(
      `select p.nickname, s.aal, f.factor_type, f.status from public.profiles p
      join auth.users u on u.id = p.user_id join auth.sessions s on s.user_id = u.id
      join auth.mfa_factors f on f.user_id = u.id where u.id = $1`,
      [id],
    )
    expect(rows).toEqual([{ nickname: 'Nick', aal: 'aal1', factor_type: 'totp', status: 'unverified' }])
    await expect(server.db.query('insert into public.profiles values ($1, $2)', [randomUUID(), 'x'])).rejects.toThrow(
      /foreign key/,
    )
  })

  it('facts 6 and 8: knows by auth.uid() who asks, and that nobody does without a token', async () => {
    const { id, token } = await signUp()
    expect(await graphql('{ whoami }', token)).toEqual({ data: { whoami: id } })
    expect(await graphql('{ whoami }', null)).toEqual({ data: { whoami: null } })
    expect(await graphql('{ whoami }', server.anon)).toEqual({ data: { whoami: null } })
  })

  it('facts 7 and 12: shows by auth.jwt() some rows only at aal2', async () => {
    const { token, id } = await signUp()
    await server.db.query('insert into public.vaults (owner, note) values ($1, $2)', [id, 'Mine'])
    expect(claimsOf(token)).toMatchObject({ aal: 'aal1' })
    expect(await graphql(notes, token)).toEqual({ data: { vaultsCollection: { edges: [] } } })
    const factor = (await server.call('POST', '/factors', { token, body: { factor_type: 'totp' } })).body
    const challenge = (await server.call('POST', `/factors/${factor.id}/challenge`, { token })).body
    const { body: raised } = await server.call('POST', `/factors/${factor.id}/verify`, {
      token,
      body: { challenge_id: challenge.id, code: codeOf(factor.totp.secret) },
    })
    expect(claimsOf(raised.access_token)).toMatchObject({ aal: 'aal2' })
    expect(await graphql(notes, raised.access_token)).toEqual({
      data: { vaultsCollection: { edges: [{ node: { note: 'Mine' } }] } },
    })
  })
})

describe('a token', () => {
  it('fact 9: is signed with the secret of the project and no other', async () => {
    const { token } = await signUp()
    const { protectedHeader } = await jwtVerify(token, Buffer.from(server.secret))
    expect(protectedHeader).toEqual({ alg: 'HS256', typ: 'JWT' })
    await expect(jwtVerify(token, Buffer.from(`${server.secret}.`))).rejects.toThrow(/signature/)
  })

  it('facts 10 and 11: has role authenticated for everybody, and says who is a guest', async () => {
    const [full, anonymous] = [claimsOf((await signUp()).token), claimsOf((await guest()).access_token)]
    expect([full['role'], full['is_anonymous']]).toEqual(['authenticated', false])
    expect([anonymous['role'], anonymous['is_anonymous']]).toEqual(['authenticated', true])
  })
})

describe('a guest', () => {
  it('facts 13 and 14: has neither address nor password, and exactly the given data', async () => {
    const data = { name: 'G', nested: { list: [1, null] } }
    const { user } = await guest(data)
    expect(user).not.toHaveProperty('email')
    expect([user.user_metadata, user.app_metadata, user.identities]).toEqual([data, {}, []])
    const { rows } = await server.db.query('select email, encrypted_password as hash from auth.users where id = $1', [
      user.id,
    ])
    expect(rows).toEqual([{ email: null, hash: null }])
  })

  it('fact 19: is another user each time', async () => {
    const [one, two] = [await guest(), await guest()]
    expect(one.user.id).not.toBe(two.user.id)
    const { rows } = await server.db.query('select count(*)::int as n from auth.users where id = any($1)', [
      [one.user.id, two.user.id],
    ])
    expect(rows).toEqual([{ n: 2 }])
  })

  it('fact 17: gets a password only together with an address', async () => {
    const { access_token: token } = await guest()
    const put = (body: object) => server.call('PUT', '/user', { token, body })
    expect(await put({ password })).toMatchObject({ status: 422, body: { error_code: 'validation_failed' } })
    const email = `${randomUUID()}@example.com`
    expect((await put({ email, password })).status).toBe(200)
    const signedIn = await server.call('POST', '/token?grant_type=password', { body: { email, password } })
    expect(signedIn.status).toBe(200)
  })
})

describe('a telephone', () => {
  it('fact 58: is no way in', async () => {
    const { token } = await signUp()
    const phone = '+15550100'
    const answers = [
      await server.call('POST', '/signup', { body: { phone, password } }),
      await server.call('POST', '/otp', { body: { phone } }),
      await server.call('POST', '/resend', { body: { type: 'sms', phone } }),
      await server.call('PUT', '/user', { token, body: { phone } }),
    ]
    for (const answer of answers) {
      expect(answer).toMatchObject({ status: 400, body: { error_code: 'phone_provider_disabled' } })
    }
    const signIn = await server.call('POST', '/token?grant_type=password', { body: { phone, password } })
    expect(signIn.body.error_code).toBe('phone_provider_disabled')
    expect((await server.call('GET', '/settings')).body.external.phone).toBe(false)
  })
})

describe('an account', () => {
  it('fact 15: changes its metadata by merging', async () => {
    const { token } = await signUp({ data: { kept: 1, changed: 1, gone: 1 } })
    const { body } = await server.call('PUT', '/user', { token, body: { data: { changed: 2, gone: null, added: 3 } } })
    expect(body.user_metadata).toMatchObject({ kept: 1, changed: 2, added: 3 })
    expect(body.user_metadata).not.toHaveProperty('gone')
  })

  it('fact 16: never shows its password or the hash', async () => {
    const { token, id, email, text } = await signUp()
    const { rows } = await server.db.query('select encrypted_password as hash from auth.users where id = $1', [id])
    const admin = { token: server.serviceRole }
    const answers = [
      await server.call('GET', '/user', { token }),
      await server.call('PUT', '/user', { token, body: { data: { a: 1 } } }),
      await server.call('POST', '/token?grant_type=password', { body: { email, password } }),
      await server.call('GET', `/admin/users/${id}`, admin),
      await server.call('GET', '/admin/users', admin),
      await server.call('PUT', `/admin/users/${id}`, { ...admin, body: { password: `${password}!` } }),
    ]
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200])
    const whole = text + JSON.stringify(answers.map(({ body }) => body))
    for (const secret of [rows[0].hash, password, '$2a$', 'encrypted_password']) expect(whole).not.toContain(secret)
  })

  it('attack 26: gains nothing by what a sign-up or a change says of itself', async () => {
    const forged = {
      id: randomUUID(),
      aud: 'service_role',
      role: 'service_role',
      is_anonymous: true,
      is_super_admin: true,
      email_confirmed_at: '2020-01-01T00:00:00Z',
      banned_until: null,
      user_metadata: { forged: true },
    }
    const { id, token } = await signUp({
      ...forged,
      app_metadata: { admin: true },
      data: { app_metadata: { admin: true } },
    })
    await server.call('PUT', '/user', {
      token,
      body: { ...forged, data: { app_metadata: { admin: true }, role: 'x' } },
    })
    const refused = await server.call('PUT', '/user', { token, body: { app_metadata: { admin: true } } })
    expect(refused).toMatchObject({ status: 403, body: { error_code: 'not_admin' } })
    const { body: user } = await server.call('GET', '/user', { token })
    expect(user).toMatchObject({ id, aud: 'authenticated', role: 'authenticated', is_anonymous: false })
    expect(user.id).not.toBe(forged.id)
    expect(user.app_metadata).toEqual({ provider: 'email', providers: ['email'] })
    expect(user.user_metadata).not.toHaveProperty('forged')
    const anonymous = await guest({ is_anonymous: false, role: 'service_role', app_metadata: { admin: true } })
    expect(claimsOf(anonymous.access_token)).toMatchObject({
      role: 'authenticated',
      is_anonymous: true,
      app_metadata: {},
    })
    for (const claims of [token, anonymous.access_token].map(claimsOf)) expect(claims['role']).toBe('authenticated')
    expect((await server.call('GET', '/admin/users', { token })).body).toMatchObject({ error_code: 'not_admin' })
  })
})
