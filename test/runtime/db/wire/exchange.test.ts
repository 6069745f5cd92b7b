import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Exchange } from '../../../../runtime/contract/execution.ts'
import { classify } from '../../../../runtime/db/failures/classify.ts'
import { openDatabase, type Database } from '../../../../runtime/db/pool/pool.ts'
import { versionExpression } from '../../../../runtime/db/check/version.ts'
import { createDatabase } from '../../../support/database.ts'
import { forSuite } from '../../../support/for-suite.ts'
import { lawMajors } from '../../../support/whole.ts'
import { openText } from '../../../support/open-text.ts'
import { messageTypes, startProxy } from '../../../support/recording-proxy.ts'

const sql = `
  create table notes (
    id int primary key, body text, owner text default current_setting('request.jwt.claims')::json ->> 'sub');
  alter table notes enable row level security;
  create policy own on notes using (owner = auth.uid()::text);
  create table parents (id int primary key);
  create table children (id int primary key, parent int references parents deferrable initially deferred);
  grant all on notes, parents, children to anon, authenticated;
  create function leak(name text, value text) returns text language sql volatile as
    'select set_config(name, value, false)';
`

const uuid = (digit: number): string => `00000000-0000-0000-0000-00000000000${digit}`

const exchange = (texts: readonly string[], more: Partial<Exchange> = {}): Exchange => ({
  caller: { role: 'authenticated', claims: JSON.stringify({ sub: uuid(1), role: 'authenticated', aal: 'aal1', n: 7 }) },
  version: null,
  readOnly: false,
  statements: texts.map((text) => ({ name: `test ${text}`, text, values: [] })),
  ...more,
})

const anon = { role: 'anon', claims: '{"role":"anon"}' }

/** Everything that one request could see of another. */
const traces = `select coalesce(current_setting('request.jwt.claim.sub', true), '') as sub,
  coalesce(current_setting('request.jwt.claim.aal', true), '') as aal, current_user,
  current_setting('statement_timeout'), current_setting('search_path'), current_setting('TimeZone'),
  coalesce(current_setting('my.own', true), ''), session_user`

describe.each(lawMajors())('an exchange with PostgreSQL %i', (major) => {
  let db: Database
  const database = forSuite(createDatabase, { major, prepare: true, sql })
  const proxy = forSuite(() => startProxy(Number(new URL(database.url).port)))
  beforeAll(async () => {
    const url = new URL(database.url)
    url.port = String(proxy.port)
    // One connection, so that every request follows the last one on it.
    db = openDatabase({ url: url.href, schemas: ['public', 'My "Schema" \\'], poolSize: 1, statementTimeout: 5_000 })
  })
  afterAll(() => db.close())
  afterEach(() => database.query('truncate notes, parents, children'))

  /** The messages of requests; roles' settings are read beside them, in messages of their own (Query). */
  const sent = () => proxy.chunks().filter((chunk) => messageTypes(chunk) !== 'Q')

  const fails = (request: Exchange) =>
    db.run(request).then(
      () => expect.unreachable('it should have failed'),
      (error: unknown) => error,
    )

  test('a warm request is one write with one Sync, no Parse, no BEGIN', async () => {
    const request = exchange(['select 1', 'select 2', 'select 1'])
    await db.run(request)
    proxy.clear()
    expect(await db.run(request)).toEqual([['1'], ['2'], ['1']])
    const chunks = sent()
    expect(chunks.map(messageTypes)).toEqual(['BEBEBEBEBES'])
    expect(Buffer.concat(chunks).toString('latin1')).not.toMatch(/begin|commit/i)
  })

  test('a cold request is one write as well, and parses each text once', async () => {
    await db.run(exchange(['select 3']))
    proxy.clear()
    await db.run(exchange(['select 4', 'select 4', 'select 3']))
    expect(sent().map(messageTypes)).toEqual(['BEBEPBEBEBES'])
  })

  test('the first row in text format; an empty row where there is none; nulls and any text', async () => {
    const text = 'select $1::text, $2::text, 1.50::numeric, true'
    const values = ['ü \u{1F600} \\ " \n', null]
    const [row, none] = await db.run({
      ...exchange([]),
      statements: [{ name: 'text', text, values }, ...exchange(['select 1 where false']).statements],
    })
    expect(row).toEqual([values[0], null, '1.50', 't'])
    expect(none).toEqual([])
    expect(await db.run(exchange(['select x from generate_series(5, 9) x']))).toEqual([['5']])
    expect(await db.run(exchange([]))).toEqual([])
  })

  test('role and claims hold for every statement and row-level security obeys them', async () => {
    await db.run(exchange(['insert into notes values (1)']))
    const read = 'select count(*), current_user from notes'
    expect(await db.run(exchange([read]))).toEqual([['1', 'authenticated']])
    expect(await db.run(exchange([read], { caller: anon }))).toEqual([['0', 'anon']])
    expect(await db.run(exchange([read]))).toEqual([['1', 'authenticated']])
  })

  test('every claim is a setting; sub, role and email always; names that are none are skipped', async () => {
    const some = '"sub":"me","Sub":"you","aal":"aal2","n":12,"o":{"a":[1]},"z":null'
    const claims = `{${some},"bad-name":"x","a.b":"y","nul":"\\u0000"}`
    const names = ['sub', 'role', 'email', 'aal', 'n', 'o', 'z', 'nul']
    const text = `select ${names.map((name) => `current_setting('request.jwt.claim.${name}')`).join(', ')},
      current_setting('request.jwt.claims'), current_setting('request.jwt.claim.bad-name', true)`
    const [row] = await db.run(exchange([text], { caller: { role: 'authenticated', claims } }))
    expect(row).toEqual(['me', '', '', 'aal2', '12', '{"a":[1]}', '', '', claims, null])
  })

  test('nothing stays behind, after success and after an error', async () => {
    const clean = await db.run(exchange([traces], { caller: anon }))
    await db.run(exchange(['select 1']))
    expect(await db.run(exchange([traces], { caller: anon }))).toEqual(clean)
    await fails(exchange(['select 1/0']))
    expect(await db.run(exchange([traces], { caller: anon }))).toEqual(clean)
    expect(clean[0]?.slice(2, 6)).toEqual(['anon', '5s', '"public", "My ""Schema"" \\", "extensions", pg_temp', 'UTC'])
  })

  test.each([
    ['role', 'service_role'],
    ['request.jwt.claims', '{"sub":"intruder"}'],
    ['request.jwt.claim.sub', 'intruder'],
    ['request.jwt.claim.aal', 'aal9'],
    ['my.own', 'left behind'],
    ['search_path', 'pg_catalog'],
    ['statement_timeout', '1min'],
    ['TimeZone', 'Asia/Tokyo'],
    ['row_security', 'off'],
  ])('a setting of the session by a function does not reach the next request: %s', async (name, value) => {
    const before = await db.run(exchange([traces], { caller: anon }))
    await db.run(exchange([`select public.leak('${name}', '${value}')`]))
    expect(await db.run(exchange([traces], { caller: anon }))).toEqual(before)
  })

  test('a leaked role does not stand in the way of the version check', async () => {
    await db.run(exchange([`select leak('role', 'anon')`]))
    const version = String((await database.query(`select ${versionExpression} as v`)).rows[0].v)
    expect(await db.run(exchange(['select current_user'], { version }))).toEqual([['authenticated']])
  })

  test('a read-only default that a function left behind does not refuse the next mutation', async () => {
    await db.run(exchange([`select leak('default_transaction_read_only', 'on')`]))
    await db.run(exchange(['insert into notes values (1) returning id']))
    expect(await db.run(exchange(['select id from notes']))).toEqual([['1']])
  })

  test('queries are read-only and say so', async () => {
    const failure = await fails(exchange(['insert into notes values (1)'], { readOnly: true }))
    expect(failure).toMatchObject({ kind: 'refused', sqlstate: '25006', statement: 0 })
    await db.run(exchange(['insert into notes values (1)']))
  })

  test('an error names its statement and keeps nothing', async () => {
    const failure = await fails(exchange(['insert into notes values (1)', 'select 1/0', 'select 5']))
    expect(failure).toMatchObject({ kind: 'refused', sqlstate: '22012', statement: 1, message: 'division by zero' })
    expect(await db.run(exchange(['select count(*) from notes']))).toEqual([['0']])
  })

  test('a deferred violation fails the request although a row had come; it belongs to no statement', async () => {
    const failure = await fails(exchange(['insert into children values (1, 99) returning id']))
    expect(failure).toMatchObject({ kind: 'refused', sqlstate: '23503', statement: null })
    expect((await database.query('select * from children')).rowCount).toBe(0)
  })

  test('a statement that was parsed before an error stays prepared, one that was not is parsed again', async () => {
    await fails(exchange(['select 10', 'select 1/0', 'select 11']))
    proxy.clear()
    expect(await db.run(exchange(['select 10', 'select 11']))).toEqual([['10'], ['11']])
    expect(sent().map(messageTypes)).toEqual(['BEBEBEPBES'])
  })

  test('a text that does not parse is refused with its index, and once again', async () => {
    const request = exchange(['select 1', 'select nothing from nowhere'])
    for (const _ of [1, 2]) expect(await fails(request)).toMatchObject({ sqlstate: '42P01', statement: 1 })
  })

  test('names beyond 200 are closed, the oldest first', async () => {
    const texts = Array.from({ length: 150 }, (_, index) => `select ${index}, 'many'`)
    await db.run(exchange(texts))
    await db.run(exchange(texts.map((text) => `${text}, 'more'`)))
    const [row] = await db.run(exchange(['select count(*) from pg_prepared_statements']))
    expect(Number(row?.[0])).toBeLessThanOrEqual(200)
    expect((await db.run(exchange(texts))).map((found) => found[0])).toEqual(texts.map((_, index) => String(index)))
  })

  test('a request of many statements and long ones leave little behind', async () => {
    const kept = async (): Promise<number> => {
      const [row] = await db.run(exchange(['select sum(length(statement)) from pg_prepared_statements']))
      return Number(row?.[0])
    }
    const named = (texts: readonly string[]): Exchange => ({
      ...exchange([]),
      statements: texts.map((text) => ({ name: `own ${text.slice(0, 12)}`, text, values: [] })),
    })
    const many = Array.from({ length: 600 }, (_, index) => `select ${index}, '${'m'.repeat(4_000)}'`)
    expect((await db.run(named(many))).map(([number]) => Number(number))).toEqual(many.map((_, index) => index))
    expect(await kept()).toBeLessThan(1_000_000)
    for (let index = 0; index < 4; index += 1) await db.run(named([`select ${index}, '${'l'.repeat(600_000)}'`]))
    expect(await kept()).toBeLessThan(1_000_000)
    const longest = `select 77, '${'l'.repeat(3_000_000)}'`
    const before = await kept()
    expect((await db.run(named([longest, 'select 8', longest]))).map(([number]) => number)).toEqual(['77', '8', '77'])
    expect(await kept()).toBeLessThan(before + 100)
  })

  test('a reading request that tries to write costs no connection', async () => {
    const pid = async () => (await db.run(exchange(['select pg_backend_pid()'])))[0]
    const before = await pid()
    expect(await fails(exchange(["insert into notes values (9, 'x')"], { readOnly: true }))).toMatchObject({
      sqlstate: '25006',
    })
    expect(await pid()).toEqual(before)
  })

  test.each(['53200', '58030', 'XX001', '08006', '57014', '53300', '53400'])(
    'a function that raises %s speaks for itself',
    async (sqlstate) => {
      const raise = `do $$ begin raise exception using errcode = '${sqlstate}', message = 'no seat left'; end $$`
      expect(await fails(exchange([raise]))).toMatchObject({ kind: 'refused', sqlstate, message: 'no seat left' })
    },
  )

  test.each([
    ['53200', 'unavailable'],
    ['58030', 'unavailable'],
    ['XX001', 'unavailable'],
    ['53300', 'connections'],
    ['53400', 'resource-limit'],
  ])('a failure of %s does not reveal the server', (code, kind) => {
    const error = Object.assign(new pg.DatabaseError('file base/16384/1259', 1, 'error'), { code, routine: 'mdopen' })
    const failure = classify(error, 0)
    expect(failure).toMatchObject({ kind, sqlstate: code })
    expect(String(failure)).not.toContain('base/')
  })

  test.each(['deallocate all', 'prepare "test select 77" as select 1'])('works again after %s', async (mishap) => {
    await db.run(exchange(['select 76']))
    await db.run(exchange([`do $$ begin execute '${mishap}'; end $$`]))
    expect(await db.run(exchange(['select 76', 'select 77']))).toEqual([['76'], ['77']])
    expect(await db.run(exchange(['select 76', 'select 77']))).toEqual([['76'], ['77']])
  })

  test('a statement whose table changed shape answers on', async () => {
    const request = exchange(['select row_to_json(n) from notes n'])
    await db.run(exchange(['insert into notes values (1)']))
    await db.run(request)
    await database.query('alter table notes add column extra int')
    expect(JSON.parse((await db.run(request))[0]?.[0]?.toString() ?? '')).toHaveProperty('extra', null)
    await database.query('alter table notes drop column extra')
  })

  test('another version has the effect that nothing runs', async () => {
    const failure = await fails(exchange(['insert into notes values (1)'], { version: '0.0.0' }))
    expect(failure).toMatchObject({ kind: 'stale', statement: null })
    expect((await database.query('select * from notes')).rowCount).toBe(0)
  })

  const selecting = (text: string, values: readonly string[], version: string, readOnly = false): Exchange => ({
    ...exchange([], { version, readOnly }),
    statements: [{ name: `test ${text}`, text: openText(text), values, carriesCheck: true }],
  })
  const versionNow = async (): Promise<string> =>
    String((await database.query(`select ${versionExpression} as v`)).rows[0].v)

  test('the check comes before anything else of the statement that carries it', async () => {
    await database.query('create sequence counted; grant all on counted to authenticated')
    const next = `select nextval('counted') as r`
    const insert = `with i as (insert into notes select nextval('counted') returning id) select (select id from i) as r`
    const version = await versionNow()
    expect(await db.run(selecting(next, [], version))).toEqual([['1']])
    for (const text of [next, insert])
      expect(await fails(selecting(text, [], '0.0.0'))).toMatchObject({ kind: 'stale' })
    expect(await db.run(selecting(insert, [], version))).toEqual([['2']])
    await database.query('drop sequence counted')
  })

  test('parameters that the current schema cannot read reveal the change', async () => {
    await database.query(`create type mood as enum ('glad')`)
    const version = await versionNow()
    const request = selecting('select $1::mood as r', ['glad'], version, true)
    expect((await db.run(request))[0]?.[0]).toBe('glad')
    await database.query(`alter type mood rename value 'glad' to 'merry'`)
    expect(await fails(request)).toMatchObject({ kind: 'stale' })
    expect(await fails({ ...request, version: await versionNow() })).toMatchObject({
      kind: 'refused',
      sqlstate: '22P02',
    })
    await database.query('drop type mood')
  })

  test('a condition is asked with the check, each time', async () => {
    const version = await versionNow()
    const under = (holds: boolean): Exchange => ({
      ...selecting('select 1 as r', [], version, true),
      condition: {
        nameSuffix: '.c',
        sql: (first) => `case when $${first}::bool then true else catalograph.refuse('no') end`,
        values: [String(holds)],
      },
    })
    for (const _ of [1, 2, 3]) {
      expect((await db.run(under(true)))[0]?.[0]).toBe('1')
      expect(await fails(under(false))).toMatchObject({
        kind: 'refused',
        sqlstate: 'CG002',
        statement: 0,
        message: 'no',
      })
    }
    expect(await fails({ ...under(false), statements: [] })).toMatchObject({ sqlstate: 'CG002', statement: null })
    expect(await fails({ ...under(true), version: '0.0.0' })).toMatchObject({ kind: 'stale' })
  })

  test('a change of the schema is noticed by the next request, from its commit on', async () => {
    const version = String((await database.query(`select ${versionExpression} as v`)).rows[0].v)
    const request = exchange(['insert into notes values (2) returning id'], { version })
    await database.query('begin; create table appearing ()')
    expect(await db.run(request)).toEqual([['2']])
    await database.query('commit; truncate notes')
    expect(await fails(request)).toMatchObject({ kind: 'stale' })
    expect((await database.query('select * from notes')).rowCount).toBe(0)
    const next = String((await database.query(`select ${versionExpression} as v`)).rows[0].v)
    expect(await db.run({ ...request, version: next })).toEqual([['2']])
    await database.query('drop table appearing')
  })

  test.each([
    ['unknown', 'nobody'],
    ['not granted', 'postgres'],
    ['empty', ''],
  ])('a role that is %s is refused', async (_, role) => {
    const failure = await fails(exchange(['select 1'], { caller: { role, claims: '{}' } }))
    expect(failure).toMatchObject({ kind: 'role-refused', statement: null })
  })

  test('timeouts and conflicts have kinds of their own', async () => {
    const slow = exchange([`select set_config('statement_timeout', '50', true)`, 'select pg_sleep(4)'])
    expect(await fails(slow)).toMatchObject({ kind: 'timeout', sqlstate: '57014', statement: 1 })
    const raising = exchange([`do $$ begin raise exception using errcode = '40001'; end $$`])
    expect(await fails(raising)).toMatchObject({ kind: 'conflict', statement: 0 })
  })

  test('a large value goes there and back', async () => {
    const value = 'é'.repeat(1_500_000)
    const statements = [{ name: 'large', text: 'select $1::text', values: [value] }]
    const [row] = await db.run({ ...exchange([]), statements })
    expect(row?.[0]?.toString() === value).toBe(true)
  })
})
