import { randomUUID } from 'node:crypto'
import { describe, expect, it, onTestFinished, test } from 'vitest'
import { forSuite } from '../../../support/for-suite.ts'
import { until } from '../../../support/until.ts'
import { call, claimsOf, startAuthServer, type Answer } from '../../../support/auth.ts'
import { postGraphql } from '../../../support/post-graphql.ts'

const server = forSuite(startAuthServer, { settings: { autoconfirm: 'on' } })

const signUp = async (): Promise<{ token: string; refresh: string; session: string; email: string }> => {
  const email = `${randomUUID()}@example.com`
  const { body } = await server.call('POST', '/signup', { body: { email, password: 'correct horse' } })
  const session = String(claimsOf(body.access_token)['session_id'])
  return { token: body.access_token, refresh: body.refresh_token, session, email }
}
const refresh = (refresh_token: string): Promise<Answer> =>
  server.call('POST', '/token?grant_type=refresh_token', { body: { refresh_token } })
const next = async (token: string): Promise<string> => (await refresh(token)).body.refresh_token
const live = async (session: string): Promise<readonly string[]> =>
  (
    await server.db.query('select token from auth.refresh_tokens where session_id = $1 and not revoked', [session])
  ).rows.map(({ token }) => token)
/** As if the reuse interval were over. */
const age = (session: string) =>
  server.db.query(
    `update auth.refresh_tokens set updated_at = now() - interval '1 minute' where session_id = $1 and revoked`,
    [session],
  )

/** Connections that wait for what the connection of `server.db` holds. */
const waitingForUs = async (): Promise<number> => {
  await server.db.query('select pg_stat_clear_snapshot()')
  const { rows } = await server.db.query(
    'select count(*)::int as count from pg_stat_activity where pg_backend_pid() = any (pg_blocking_pids(pid))',
  )
  return rows[0].count
}

describe('a refresh token', () => {
  it('is twelve characters of base32, gives a new one with fresh claims, and names user and session', async () => {
    const first = await signUp()
    expect(first.refresh).toMatch(/^[a-z2-7]{12}$/)
    await server.call('PUT', '/user', { token: first.token, body: { data: { color: 'blue' } } })
    const { status, body, headers } = await refresh(first.refresh)
    expect(status).toBe(200)
    expect(claimsOf(body.access_token)).toMatchObject({
      session_id: first.session,
      user_metadata: { color: 'blue' },
      amr: [{ method: 'password' }],
    })
    expect(headers.get('sb-auth-session-id')).toBe(first.session)
    expect(await live(first.session)).toEqual([body.refresh_token])
    const { rows } = await server.db.query(
      `select payload ->> 'action' as action from auth.audit_log_entries where payload ->> 'actor_id' = $1
      order by created_at`,
      [body.user.id],
    )
    expect(rows.map(({ action }) => action)).toEqual(['user_signedup', 'login', 'user_modified', 'token_refreshed'])
  })

  test.each([
    ['', { error: 'invalid_request', error_description: 'refresh_token required' }],
    ['short', { code: 400, error_code: 'validation_failed', msg: 'Refresh token is not valid' }],
    ['<script>alert', { code: 400, error_code: 'validation_failed' }],
    [
      'abcdefghijkl',
      { code: 400, error_code: 'refresh_token_not_found', msg: 'Invalid Refresh Token: Refresh Token Not Found' },
    ],
  ])('%j is refused', async (token, expected) => {
    const answer = await refresh(token)
    expect([answer.status, answer.body]).toMatchObject([400, expected])
  })

  it('whose answer was lost gives the live one, however long ago', async () => {
    const { refresh: first, session } = await signUp()
    const second = await next(first)
    await age(session)
    expect(await next(first)).toBe(second)
    expect(await live(session)).toEqual([second])
  })

  it('that was spent lately gives the live one, even two generations back', async () => {
    const { refresh: first, session } = await signUp()
    const third = await next(await next(first))
    expect(await next(first)).toBe(third)
    expect(await live(session)).toEqual([third])
  })

  it('attack 12: replayed from further back in the chain ends the session for both parties', async () => {
    const { refresh: first, session, token } = await signUp()
    const third = await next(await next(first))
    await age(session)
    expect((await refresh(first)).body).toMatchObject({ code: 400, error_code: 'refresh_token_already_used' })
    expect((await refresh(third)).status).toBe(400)
    expect((await server.call('GET', '/user', { token })).body.error_code).toBe('session_not_found')
    const { rows } = await server.db.query(
      `select from auth.audit_log_entries where payload ->> 'action' = 'token_revoked'`,
    )
    expect(rows.length).toBeGreaterThan(0)
  })

  const graphql = (token: string) =>
    postGraphql(server, { query: '{__typename}' }, { authorization: `Bearer ${token}` })
  const isUsed = async (session: string): Promise<boolean> =>
    (
      await server.db.query('select from catalograph_auth.refresh_marks where session_id = $1 and used <> $2', [
        session,
        '',
      ])
    ).rowCount === 1
  const user = (token: string) => server.call('GET', '/user', { token })

  test.each([
    ['/user', user, '0'],
    ['GraphQL', graphql, '0'],
    ['/user', user, '10'],
    ['GraphQL', graphql, '10'],
  ] as const)(
    'attack 12: whose successor was used at %s gives nothing, and ends the session for owner and thief',
    async (_name, use, interval) => {
      await server.set({ refresh_reuse_interval: interval })
      onTestFinished(() => server.set({ refresh_reuse_interval: '10' }))
      const { refresh: shared, session } = await signUp()
      const { body: owner } = await refresh(shared)
      await use(owner.access_token)
      await until(() => isUsed(session))
      if (interval !== '0') {
        expect(await next(shared)).toBe(owner.refresh_token)
        await age(session)
      }
      expect((await refresh(shared)).body.error_code).toBe('refresh_token_already_used')
      expect((await refresh(owner.refresh_token)).status).toBe(400)
    },
  )

  it('attack 12: an older access token that is still in use takes nothing from a client who lost the answer', async () => {
    const { refresh: first, session, token } = await signUp()
    const second = await next(first)
    await user(token)
    await age(session)
    expect(await next(first)).toBe(second)
  })

  it('attack 12: owner and thief who refresh in turn, and use nothing between, end the session in the second round', async () => {
    await server.set({ refresh_reuse_interval: '0' })
    onTestFinished(() => server.set({ refresh_reuse_interval: '10' }))
    let [owner, thief] = [(await signUp()).refresh, '']
    thief = owner
    const statuses: number[] = []
    for (let round = 0; round < 2; round += 1) {
      const one = await refresh(owner)
      const other = await refresh(thief)
      statuses.push(one.status, other.status)
      owner = one.body.refresh_token
      thief = other.body.refresh_token
    }
    expect(statuses).toEqual([200, 200, 200, 400])
    expect((await refresh(owner)).status).toBe(400)
  })

  it('whose answer is lost twice in a row gives the live one, when it was used between', async () => {
    const { refresh: first, session } = await signUp()
    await next(first)
    await age(session)
    const { body: second } = await refresh(first)
    await user(second.access_token)
    await until(() => isUsed(session))
    const third = await next(second.refresh_token)
    await age(session)
    expect(await next(second.refresh_token)).toBe(third)
  })

  it('attack 13: of twenty tabs at once, on two processes, gives all of them the same live token', async () => {
    const other = await server.another()
    onTestFinished(() => other.stop())
    const { refresh: first, session } = await signUp()
    let token = first
    for (let round = 0; round < 5; round += 1) {
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, tab) =>
          call(tab % 2 === 0 ? server.url : other.url, server.anon, 'POST', '/token?grant_type=refresh_token', {
            body: { refresh_token: token },
          }),
        ),
      )
      expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200))
      const given = new Set(answers.map(({ body }) => body.refresh_token))
      expect([given.size, await live(session)]).toEqual([1, [...given]])
      token = [...given][0]
    }
  })

  it('raced by a sign-out never leaves a live token without its session', async () => {
    for (let round = 0; round < 10; round += 1) {
      const { refresh: first, token, session } = await signUp()
      const [, answer] = await Promise.all([server.call('POST', '/logout?scope=local', { token }), refresh(first)])
      expect([200, 400]).toContain(answer.status)
      expect(await live(session)).toEqual([])
      if (answer.status === 200) expect((await refresh(answer.body.refresh_token)).status).toBe(400)
    }
  })

  it('is ended everywhere by a request that waits for a step-up and holds no lock while it waits', async () => {
    const { token, session: other, email } = await signUp()
    const credentials = { email, password: 'correct horse' }
    const { body } = await server.call('POST', '/token?grant_type=password', { body: credentials })
    const { query } = server.db
    // The locks of a step-up: the user, its own session, then the others.
    await query('begin')
    await query('select from auth.users where email = $1 for update', [email])
    await query('select from auth.sessions where id = $1 for update', [claimsOf(body.access_token)['session_id']])
    const signingOut = server.call('POST', '/logout', { token })
    await expect.poll(waitingForUs, { timeout: 5_000 }).toBe(1)
    await query(`set local lock_timeout = '200ms'`)
    await query('delete from auth.sessions where id = $1', [other]).finally(() => query('commit'))
    expect((await signingOut).status).toBe(204)
    expect((await refresh(body.refresh_token)).body.error_code).toBe('refresh_token_not_found')
  })

  it('of a banned or deleted user is refused', async () => {
    const { refresh: first, email } = await signUp()
    await server.db.query(`update auth.users set banned_until = now() + interval '1 hour' where email = $1`, [email])
    expect((await refresh(first)).body).toMatchObject({
      code: 400,
      error_code: 'user_banned',
      msg: 'Invalid Refresh Token: User Banned',
    })
    await server.db.query('update auth.users set banned_until = null, deleted_at = now() where email = $1', [email])
    expect((await refresh(first)).body.error_code).toBe('session_not_found')
    await server.db.query('delete from auth.users where email = $1', [email])
    expect((await refresh(first)).body.error_code).toBe('refresh_token_not_found')
  })

  it('from before the step-up gives nothing, and ends the session only when it is old', async () => {
    const { refresh: first, session } = await signUp()
    const upgraded = 'upgradedtokn'
    await server.db.query(
      `with claim as (
        insert into auth.mfa_amr_claims (id, session_id, created_at, updated_at, authentication_method)
        values (gen_random_uuid(), $1, now(), now(), 'totp')
      ), raised as (update auth.sessions set aal = 'aal2' where id = $1), spent as (
        update auth.refresh_tokens set revoked = true, updated_at = now() where session_id = $1
      )
      insert into auth.refresh_tokens (token, user_id, revoked, created_at, updated_at, parent, session_id)
      select $2, user_id, false, now(), now(), token, session_id from auth.refresh_tokens where session_id = $1`,
      [session, upgraded],
    )
    expect((await refresh(first)).body.error_code).toBe('refresh_token_already_used')
    const { body } = await refresh(upgraded)
    expect(claimsOf(body.access_token)).toMatchObject({ aal: 'aal2' })
    await age(session)
    expect((await refresh(first)).body.error_code).toBe('refresh_token_already_used')
    expect((await refresh(body.refresh_token)).body.error_code).toBe('refresh_token_not_found')
  })

  it('imported with null in its columns is as good as ours', async () => {
    const { session, email } = await signUp()
    await server.db.query(
      `insert into auth.refresh_tokens (token, user_id, session_id)
      select 'AnOldTokenOf22-Chars_x', id, $2 from auth.users where email = $1`,
      [email, session],
    )
    await server.db.query(
      `delete from auth.refresh_tokens where session_id = $1 and token <> 'AnOldTokenOf22-Chars_x'`,
      [session],
    )
    expect((await refresh('AnOldTokenOf22-Chars_x')).status).toBe(200)
  })

  it('ends with the limits of its session', async () => {
    const codes = async (token: string): Promise<unknown> => {
      const { body } = await refresh(token)
      return [body.error_code, body.msg]
    }
    const [old, idle, single] = [await signUp(), await signUp(), await signUp()]
    await server.db.query(`update auth.sessions set created_at = now() - interval '2 hours' where id = $1`, [
      old.session,
    ])
    await server.db.query(
      `update auth.sessions set refreshed_at = now() at time zone 'utc' - interval '2 hours' where id = $1`,
      [idle.session],
    )
    await server.set({ session_timebox: '3600' })
    expect(await codes(old.refresh)).toEqual(['session_expired', 'Invalid Refresh Token: Session Expired'])
    await server.set({ session_timebox: 'off', session_inactivity: '3600' })
    expect(await codes(idle.refresh)).toEqual([
      'session_expired',
      'Invalid Refresh Token: Session Expired (Inactivity)',
    ])
    await server.set({ session_inactivity: 'off', session_single_per_user: 'on' })
    const newer = await server.call('POST', '/token?grant_type=password', {
      body: { email: single.email, password: 'correct horse' },
    })
    expect(await codes(single.refresh)).toEqual([
      'session_expired',
      'Invalid Refresh Token: Session Expired (Revoked by Newer Login)',
    ])
    expect((await refresh(newer.body.refresh_token)).status).toBe(200)
    await server.set({ session_single_per_user: 'off' })
  })
})
