import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openStatements, type StatementsDatabase } from '../../../runtime/db/pool/statements.ts'
import { createLeftovers, type Retention } from '../../../runtime/auth/store/leftovers.ts'
import { startAuthServer } from '../../support/auth.ts'
import { forSuite } from '../../support/for-suite.ts'
import { challenge, enrol } from '../../support/totp.ts'

let database: StatementsDatabase
const server = forSuite(startAuthServer, { settings: { autoconfirm: 'on', anonymous_enabled: 'on' } })
beforeAll(async () => {
  const url = server.db.ownerUrl
  database = openStatements({ url, schemas: ['auth'], role: null, poolSize: 1, statementTimeout: 0 })
})
afterAll(() => database?.close())

const none: Retention = { session_timebox: null, session_inactivity: null, audit_retention: null }
/** One walk over all tables: the number of its steps. */
async function walk(retention: Retention): Promise<number> {
  const { tidy } = createLeftovers(database.run)
  let steps = 1
  while (await tidy(retention)) steps += 1
  return steps
}
const count = async (from: string): Promise<number> =>
  Number((await server.db.query(`select count(*) as count from ${from}`)).rows[0]?.['count'])
const refresh = async (refresh_token: string): Promise<string> =>
  (await server.call('POST', '/token?grant_type=refresh_token', { body: { refresh_token } })).body.refresh_token

it('rows without further use are deleted after a day, and nothing else', async () => {
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
  await walk(none)
  expect(await Promise.all([...tables, 'auth.refresh_tokens'].map(count))).toEqual([1, 1, 1, 5])

  await server.db.query(tables.map((table) => `update ${table} set created_at = now() - interval '25 h'`).join(';'))
  await server.db.query(`update auth.users set created_at = now() - interval '400 days'`)
  await server.db.query(`update auth.refresh_tokens set updated_at = now() - interval '25 h'`)
  await walk(none)
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
  await walk(none)
  expect(await left()).toEqual([tired, going].toSorted())
  await walk({ ...none, session_inactivity: 3600 })
  expect(await left()).toEqual([going])
})

it('the log forgets what is older than the owner wants, and nothing where no age is set', async () => {
  await server.db.query(`update auth.audit_log_entries set created_at = now() - interval '90 days'`)
  const { id } = (await server.call('POST', '/signup', { body: {} })).body.user
  const before = await count('auth.audit_log_entries')
  await walk(none)
  expect(await count('auth.audit_log_entries')).toBe(before)
  await walk({ ...none, audit_retention: 30 * 86_400 })
  const { rows } = await server.db.query(`select distinct payload ->> 'actor_id' as id from auth.audit_log_entries`)
  expect([before > 1, rows]).toEqual([true, [{ id }]])
})

it('numbers of wrong passwords and devices are kept for a year, and numbers for a day while there are too many', async () => {
  const age = (by: string) =>
    server.db.query(`update catalograph_auth.password_guesses set last_at = last_at - interval '${by}';
      update catalograph_auth.user_devices set passed_at = passed_at - interval '${by}'`)
  const left = () => Promise.all(['password_guesses', 'user_devices'].map((name) => count(`catalograph_auth.${name}`)))
  await server.db.query('truncate catalograph_auth.password_guesses, catalograph_auth.user_devices')
  const body = { email: `${randomUUID()}@example.com`, password: 'correct horse' }
  await server.call('POST', '/signup', { body })
  const guess = (email: string) =>
    server.call('POST', '/token?grant_type=password', { body: { email, password: 'wrong horse' } })
  await Promise.all([guess(body.email), guess('nobody@example.com')])
  await age('364 days')
  await walk(none)
  expect(await left()).toEqual([2, 1])
  await age('2 days')
  await walk(none)
  expect(await left()).toEqual([0, 0])
  await Promise.all([guess(body.email), guess('nobody@example.com')])
  await age('25 hours')
  await guess('somebody@example.com')
  const { query } = server.db.superuser('writes an estimate to the catalogue')
  await query(`update pg_class set reltuples = 1000001 where relname = 'password_guesses'`)
  await walk(none)
  expect((await left())[0]).toBe(1)
})

it('a large table is walked page by page: what one step looks at is bounded, and a walk finds everything', async () => {
  const insert = (from: number, to: number, age: string): Promise<unknown> =>
    server.db.query(
      `insert into catalograph_auth.throttles (limit_group, source, tokens, updated_at)
      select 'verify', n::text, 1, now() - $3::interval from generate_series($1::int, $2::int) n`,
      [from, to, age],
    )
  const few = await walk(none)
  // Two young ones for each old one, all over the table.
  for (let from = 0; from < 30_000; from += 1_000) await insert(from, from + 999, from % 3_000 === 0 ? '25 h' : '1 h')
  const { rows } = await server.db.query(
    `select pg_relation_size('catalograph_auth.throttles') / current_setting('block_size')::int as pages`,
  )
  expect((await walk(none)) - few).toBe(Math.ceil(Number(rows[0]?.['pages']) / 64) - 1)
  expect(await count(`catalograph_auth.throttles where updated_at < now() - interval '24 h'`)).toBe(0)
  expect(await count('catalograph_auth.throttles')).toBe(20_000)
})

it('a table that cannot be tidied holds up no other', async () => {
  const { tidy } = createLeftovers(async (statement, values) => {
    if (statement.text.includes('auth.refresh_tokens')) throw new Error('not this one')
    return database.run(statement, values)
  })
  await server.db.query(`update catalograph_auth.throttles set updated_at = now() - interval '25 h'`)
  let failures = 0
  for (let more = true; more;) more = await tidy(none).catch(() => (failures += 1) > 0)
  expect([failures, await count('catalograph_auth.throttles')]).toEqual([1, 0])
})
