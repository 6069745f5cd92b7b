import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Exchange, ResultRow } from '../../../../runtime/contract/execution.ts'
import { openDatabase, type Database } from '../../../../runtime/db/pool/pool.ts'
import { createDatabase } from '../../../support/database.ts'
import { forSuite } from '../../../support/for-suite.ts'
import { lawMajors } from '../../../support/whole.ts'

const ask = (role: string, text: string, readOnly = false): Exchange => ({
  caller: { role, claims: JSON.stringify({ role }) },
  version: null,
  readOnly,
  statements: [{ name: `${role} ${text}`, text, values: [] }],
})

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

describe.each(lawMajors())("a role's own settings on PostgreSQL %i", (major) => {
  let db: Database
  const settled = () => sleep(1_000)
  /** In this database alone: the roles belong to all databases of the server. */
  const alter = async (role: string, setting: string): Promise<void> => {
    const { rows } = await database.query('select current_database() as name')
    const { query } = database.superuser('gives roles settings of any name')
    await query(`alter role ${role} in database ${String(rows[0].name)} ${setting}`)
    await settled()
  }
  const shown = async (role: string, name: string): Promise<ResultRow[number] | undefined> =>
    (await db.run(ask(role, `select current_setting('${name}', true)`)))[0]?.[0]
  const database = forSuite(createDatabase, { major, sql: 'create table t (id int); grant all on t to anon' })
  beforeAll(async () => {
    db = openDatabase({ url: database.url, schemas: ['public'], poolSize: 2 })
    await db.run(ask('anon', 'select 1'))
  })
  afterAll(() => db.close())

  test('hold for requests as that role within a second of a change, and for no other role', async () => {
    expect(await shown('anon', 'statement_timeout')).toBe('30s')
    await alter('anon', `set statement_timeout = '300ms'`)
    expect(await shown('anon', 'statement_timeout')).toBe('300ms')
    expect(await shown('authenticated', 'statement_timeout')).toBe('30s')
    await expect(db.run(ask('anon', 'select pg_sleep(5)'))).rejects.toMatchObject({ kind: 'timeout' })
    await alter('anon', 'reset statement_timeout')
    expect(await shown('anon', 'statement_timeout')).toBe('30s')
  })

  test('come before the limit for locks', async () => {
    expect(await shown('anon', 'lock_timeout')).toBe('2s')
    await alter('authenticator', `set lock_timeout = '700ms'`)
    await alter('anon', `set lock_timeout = '300ms'`)
    expect(await shown('anon', 'lock_timeout')).toBe('300ms')
    expect(await shown('authenticated', 'lock_timeout')).toBe('700ms')
    await alter('anon', 'reset lock_timeout')
    await alter('authenticator', 'reset lock_timeout')
  })

  test('are any that a role may set, but for what requests rely on', async () => {
    await alter('anon', `set work_mem = '9MB'`)
    await alter('anon', `set app.tenant = 'it''s \\ 7'`)
    await alter('anon', `set timezone = 'Asia/Kolkata'`)
    await alter('anon', `set search_path = 'nowhere'`)
    await alter('anon', `set bytea_output = 'escape'`)
    await alter('anon', `set session_replication_role = 'replica'`)
    expect(await shown('anon', 'work_mem')).toBe('9MB')
    expect(await shown('anon', 'app.tenant')).toBe(`it's \\ 7`)
    expect(await shown('anon', 'timezone')).toBe('Asia/Kolkata')
    expect(await shown('anon', 'search_path')).toBe('"public", "extensions", pg_temp')
    expect(await shown('anon', 'bytea_output')).toBe('hex')
    // Only a superuser may set it: it is left out, and the role is served.
    expect(await shown('anon', 'session_replication_role')).toBe('origin')
    expect(await shown('authenticated', 'app.tenant')).not.toBe(`it's \\ 7`)
  }, 30_000)

  test('claims stand above a setting of their name', async () => {
    await alter('anon', `set request.jwt.claims = '{"sub":"somebody"}'`)
    expect(await shown('anon', 'request.jwt.claims')).toBe('{"role":"anon"}')
  })

  test('default_transaction_read_only makes every request of the role read only', async () => {
    await alter('anon', 'set default_transaction_read_only = on')
    await expect(db.run(ask('anon', 'insert into t values (1) returning id'))).rejects.toMatchObject({
      sqlstate: '25006',
    })
    await alter('anon', 'reset default_transaction_read_only')
    expect(await db.run(ask('anon', 'insert into t values (1) returning id'))).toEqual([['1']])
  })

  test("the login role's own statement_timeout holds where ours is not set", async () => {
    await alter('authenticator', `set statement_timeout = '7s'`)
    expect(await shown('authenticated', 'statement_timeout')).toBe('7s')
    const explicit = openDatabase({ url: database.url, schemas: ['public'], poolSize: 1, statementTimeout: 4_000 })
    const rows = await explicit.run(ask('authenticated', `select current_setting('statement_timeout')`))
    await explicit.close()
    expect(rows).toEqual([['4s']])
  })
})
