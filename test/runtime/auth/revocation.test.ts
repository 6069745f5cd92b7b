import { createHash, randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { siteUrl, startAuthServer, type Answer } from '../../support/auth.ts'
import { forSuite } from '../../support/for-suite.ts'

/** The grants of an earlier act that a later act revokes (spec/auth.md 15). */

const server = forSuite(startAuthServer, { settings: { mail_cooldown: '3600' } })

const password = 'correct horse'
const newEmail = (): string => `${randomUUID()}@example.com`
const post = (path: string, body: unknown): Promise<Answer> => server.call('POST', path, { body })
const signIn = (email: string, secret = password): Promise<Answer> =>
  post('/token?grant_type=password', { email, password: secret })
const follow = (url: string): Promise<Answer> => server.call('GET', url.slice(url.indexOf('/verify')))
const fragmentOf = ({ headers }: Answer): URLSearchParams =>
  new URLSearchParams((headers.get('location') ?? '').split('#')[1])

/** Signs up and opens the link of the mail. */
async function confirmed(): Promise<{ email: string; token: string; id: string }> {
  const email = newEmail()
  const { body } = await post('/signup', { email, password })
  const landed = fragmentOf(await follow((await server.mails(email))[0]?.url ?? ''))
  return { email, token: landed.get('access_token') ?? '', id: body.id }
}

describe('an account that somebody else signed up for', () => {
  test('is the work of two, even where the second sign-up came too soon for another mail (attack 2)', async () => {
    const email = newEmail()
    await post('/signup', { email, password: 'of a stranger', data: { plan: 'stranger' } })
    expect((await post('/signup', { email, password })).status).toBe(429)
    const landed = fragmentOf(await follow((await server.mails(email))[0]?.url ?? ''))
    const user = await server.call('GET', '/user', { token: landed.get('access_token') ?? '' })
    expect(user.body.user_metadata).not.toHaveProperty('plan')
    expect((await signIn(email, 'of a stranger')).body.error_code).toBe('invalid_credentials')
  })

  test('and is banned in the meantime opens no session where addresses count as confirmed', async () => {
    const email = newEmail()
    const { body } = await post('/signup', { email, password })
    await server.db.query(`update auth.users set banned_until = now() + interval '1 day' where id = $1`, [body.id])
    await server.set({ autoconfirm: 'on' })
    const again = await post('/signup', { email, password })
    await server.set({ autoconfirm: 'off' })
    expect([again.status, again.body.error_code]).toEqual([400, 'user_banned'])
  })
})

describe('the code of a PKCE flow whose link was opened', () => {
  const verifier = 'v'.repeat(43)
  const challenge = createHash('sha256').update(verifier).digest('base64url')
  const issue = async (email: string): Promise<string> => {
    await post('/recover', { email, code_challenge: challenge, code_challenge_method: 's256' })
    const { headers } = await follow((await server.mails(email))[0]?.url ?? '')
    return new URL(headers.get('location') ?? '').searchParams.get('code') ?? ''
  }
  const exchange = (auth_code: string): Promise<Answer> =>
    post('/token?grant_type=pkce', { auth_code, code_verifier: verifier })

  test('opens nothing after the password was changed', async () => {
    const { email, token } = await confirmed()
    const code = await issue(email)
    expect(code).not.toBe('')
    const changed = await server.call('PUT', '/user', { token, body: { password: 'another horse' } })
    expect(changed.status).toBe(200)
    expect((await exchange(code)).body.error_code).toBe('flow_state_not_found')
  })

  test('opens nothing after its owner signed out everywhere', async () => {
    const { email, token } = await confirmed()
    const code = await issue(email)
    expect((await server.call('POST', '/logout', { token })).status).toBe(204)
    expect((await exchange(code)).body.error_code).toBe('flow_state_not_found')
  })

  test('opens nothing after an administrator set a password or an address', async () => {
    for (const body of [{ password: 'another horse' }, { email: newEmail() }]) {
      const { email, id } = await confirmed()
      const code = await issue(email)
      await server.call('PUT', `/admin/users/${id}`, { token: server.serviceRole, body })
      expect((await exchange(code)).body.error_code).toBe('flow_state_not_found')
    }
  })
})

/** How many wait for what this connection holds. */
const waiting = async (): Promise<number> => {
  // Running statements of others are looked up once a transaction, unless the snapshot is cleared.
  await server.db.query('select pg_stat_clear_snapshot()')
  const { rows } = await server.db.query(`select from pg_stat_activity
    where datname = current_database() and pg_backend_pid() = any (pg_blocking_pids(pid))`)
  return rows.length
}

describe('a sign-in whose password was right when it was compared', () => {
  /** Signs in while `change` of the user is under way. */
  const during = async (change: string) => {
    const person = await confirmed()
    const { db } = server
    await db.query('begin')
    await db.query('select from auth.users where id = $1 for update', [person.id])
    const signingIn = signIn(person.email)
    await expect.poll(waiting, { timeout: 8_000 }).toBe(1)
    await db.query(change, [person.id])
    await db.query('commit')
    return { ...person, ...(await signingIn) }
  }
  const kept = async (id: string) => {
    const { rows } = await server.db.query(
      `select (select count(*)::int from auth.sessions where user_id = $1) as sessions, (select count(*)::int
        from auth.audit_log_entries where payload->>'actor_id' = $1::text and payload->>'action' = 'login') as logins,
        (select coalesce(sum(failures), 0)::int from catalograph_auth.password_guesses) as guesses`,
      [id],
    )
    return rows[0]
  }

  test.each([
    ['another password', `update auth.users set encrypted_password = 'another' where id = $1`, 'invalid_credentials'],
    ['no password', 'update auth.users set encrypted_password = null where id = $1', 'invalid_credentials'],
    ['a ban', `update auth.users set banned_until = now() + interval '1 hour' where id = $1`, 'user_banned'],
    ['a soft deletion', 'update auth.users set deleted_at = now() where id = $1', 'invalid_credentials'],
    ['a deletion', 'delete from auth.users where id = $1', 'invalid_credentials'],
  ])('opens nothing after %s, and costs no guess', async (_, change, code) => {
    await server.db.query('delete from catalograph_auth.password_guesses')
    const { id, status, body } = await during(change)
    expect([status, body.error_code]).toEqual([400, code])
    const ended = change.startsWith('delete')
    expect(await kept(id)).toEqual({ sessions: ended ? 0 : 1, logins: 1, guesses: 0 })
  })

  test('shows changes of the meantime', async () => {
    const { body } = await during(`update auth.users set raw_user_meta_data = '{"name": "New"}' where id = $1`)
    expect(body.user.user_metadata).toEqual({ name: 'New' })
  })
})

test('a session that was ended while it changed a password changes nothing', async () => {
  const { email, token } = await confirmed()
  const { db } = server
  await db.query('begin')
  await db.query('select from auth.users where email = $1 for update', [email])
  const changing = server.call('PUT', '/user', { token, body: { password: 'of a thief' } })
  await expect.poll(waiting, { timeout: 8_000 }).toBe(1)
  await db.query('delete from auth.sessions where user_id = (select id from auth.users where email = $1)', [email])
  await db.query('commit')
  const { status, body } = await changing
  expect([status, body.error_code]).toEqual([403, 'session_not_found'])
  expect((await signIn(email)).status).toBe(200)
})

test('a person without an address cannot have a password', async () => {
  const { email, token, id } = await confirmed()
  await server.db.query('update auth.users set email = null where id = $1', [id])
  const { status, body } = await server.call('PUT', '/user', { token, body: { password: 'another horse' } })
  expect([status, body.error_code, email]).toEqual([422, 'validation_failed', email])
})

test('metadata that another service left as JSON null is an empty object', async () => {
  const { id, token } = await confirmed()
  await server.db.query(`update auth.users set raw_user_meta_data = 'null', raw_app_meta_data = 'null' where id = $1`, [
    id,
  ])
  const { body } = await server.call('PUT', '/user', { token, body: { data: { a: 1 } } })
  expect(body.user_metadata).toEqual({ a: 1 })
  const path = `/admin/users/${id}`
  const { body: other } = await server.call('PUT', path, {
    token: server.serviceRole,
    body: { app_metadata: { b: 1 }, email: newEmail() },
  })
  expect(other.app_metadata).toEqual({ provider: 'email', providers: ['email'], b: 1 })
})

test('a destination in other letters is where its link leads', async () => {
  const email = newEmail()
  await post(`/signup?redirect_to=${encodeURIComponent(`${siteUrl}/日本/ü?q=ü`)}`, { email, password })
  const { status, headers } = await follow((await server.mails(email))[0]?.url ?? '')
  const location = headers.get('location') ?? ''
  expect([status, location.split('#')[0]]).toEqual([303, `${siteUrl}/%E6%97%A5%E6%9C%AC/%C3%BC?q=%C3%BC`])
})
