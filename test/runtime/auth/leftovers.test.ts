import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openStatements, type StatementsDatabase } from '../../../runtime/db/pool/statements.ts'
import { deleteLeftovers } from '../../../runtime/auth/store/leftovers.ts'
import { startAuthServer, type AuthServer } from '../../support/auth.ts'
import { challenge, enrol } from '../../support/totp.ts'

let server: AuthServer
let database: StatementsDatabase
beforeAll(async () => {
  server = await startAuthServer({ settings: { autoconfirm: 'on', anonymous_enabled: 'on' } })
  const url = server.db.adminUrl
  database = openStatements({ url, schemas: ['auth'], role: null, poolSize: 1, statementTimeout: 0 })
})
afterAll(async () => {
  await database?.close()
  await server?.stop()
})

const none = { session_timebox: null, session_inactivity: null }
const count = async (from: string): Promise<number> =>
  Number((await server.db.query(`select count(*) as count from ${from}`)).rows[0]?.['count'])
const refresh = async (refresh_token: string): Promise<string> =>
  (await server.call('POST', '/token?grant_type=refresh_token', { body: { refresh_token } })).body.refresh_token

it('what nobody needs any more is deleted after a day, and nothing else', async () => {
  const email = `${randomUUID()}@example.com`
  const { body } = await server.call('POST', '/signup', { body: { email, password: 'correct horse' } })
  await server.call('POST', '/signup', { body: {} })
  const parent = await refresh(await refresh(body.refresh_token))
  const live = await refresh(parent)
  const factor = await enrol(server, body.access_token)
  await challenge(server, { token: body.access_token, factor })
  await server.db.query(`insert into auth.flow_state (id, provider_type, authentication_method, created_at)
    values (gen_random_uuid(), 'email', 'recovery', now())`)
  const tables = 'auth.mfa_factors, auth.mfa_challenges, auth.flow_state'.split(', ')
  expect(await deleteLeftovers(database.run, none)).toBe(false)
  expect(await Promise.all([...tables, 'auth.refresh_tokens'].map(count))).toEqual([1, 1, 1, 5])

  await server.db.query(tables.map((table) => `update ${table} set created_at = now() - interval '25 h'`).join(';'))
  await server.db.query(`update auth.users set created_at = now() - interval '400 days'`)
  await server.db.query(`update auth.refresh_tokens set updated_at = now() - interval '25 h'`)
  await deleteLeftovers(database.run, none)
  expect(await Promise.all(tables.map(count))).toEqual([0, 0, 0])
  // The guest's token, the live one, and its parent, which still gives the live one.
  expect([await count('auth.refresh_tokens'), await refresh(parent)]).toEqual([3, live])
  expect([await count('auth.users'), await count('auth.sessions')]).toEqual([2, 2])
})

it('sessions that are over are deleted a day later', async () => {
  const begin = async (): Promise<string> => (await server.call('POST', '/signup', { body: {} })).body.user.id
  const [past, tired, going] = [await begin(), await begin(), await begin()]
  await server.db.query(`update auth.sessions set not_after = now() - interval '25 h' where user_id = $1`, [past])
  await server.db.query(`update auth.sessions set created_at = now() - interval '26 h' where user_id = $1`, [tired])
  const left = async (): Promise<unknown> =>
    (await server.db.query('select user_id from auth.sessions where user_id = any ($1)', [[past, tired, going]])).rows
      .map(({ user_id }) => user_id)
      .toSorted()
  await deleteLeftovers(database.run, none)
  expect(await left()).toEqual([tired, going].toSorted())
  await deleteLeftovers(database.run, { session_timebox: null, session_inactivity: 3600 })
  expect(await left()).toEqual([going])
})

it('a lot is deleted little by little', async () => {
  await server.db.query(`insert into catalograph_auth.throttles (limit_group, source, tokens, updated_at)
    select 'verify', n::text, 1, now() - interval '25 h' from generate_series(1, 700) n`)
  expect(await deleteLeftovers(database.run, none)).toBe(true)
  expect(await count('catalograph_auth.throttles')).toBe(200)
  expect(await deleteLeftovers(database.run, none)).toBe(false)
  expect(await count('catalograph_auth.throttles')).toBe(0)
})
