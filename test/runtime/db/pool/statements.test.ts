import fc from 'fast-check'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { openStatements, statement, type StatementsDatabase } from '../../../../runtime/db/pool/statements.ts'
import { createDatabase } from '../../../support/database.ts'
import { forSuite } from '../../../support/for-suite.ts'
import { messageTypes, startProxy } from '../../../support/recording-proxy.ts'

let database: StatementsDatabase
const open = (poolSize: number, url = db.ownerUrl): StatementsDatabase =>
  openStatements({
    url,
    schemas: ['public'],
    role: 'supabase_auth_admin',
    poolSize,
    statementTimeout: 5_000,
  })
const db = forSuite(createDatabase, { sql: 'create table notes (id int primary key); grant all on notes to public' })
beforeAll(async () => {
  database = open(2)
})
afterAll(() => database.close())

const echo = statement<Record<string, unknown>>(
  'test.echo',
  'select $1::text as text, $2::text[] as list, $3::jsonb as doc, $4::bytea as bytes, $5::bool as flag, $6::int8 as big',
)
const insert = statement<{ readonly id: number }>('test.insert', 'insert into notes values ($1) returning id')
const count = statement<{ readonly count: number }>('test.count', 'select count(*)::int as count from notes')

test('rows are objects, each value by the type of its column; times are as printed', async () => {
  const rows = statement(
    'test.rows',
    `select n, n = 1 as one, null as nothing, timestamptz '2024-01-02 03:04:05.000006+00' as at
    from generate_series(1, 2) n`,
  )
  const at = '2024-01-02 03:04:05.000006+00'
  const expected = [
    { n: 1, one: true, nothing: null, at },
    { n: 2, one: false, nothing: null, at },
  ]
  expect(await database.run(rows)).toEqual(expected)
  // A statement that a connection has prepared is not described again.
  expect(await database.run(rows)).toEqual(expected)
})

test('whatever goes in as a parameter comes out again', async () => {
  const text = fc.string({ unit: 'grapheme' }).map((one) => one.replaceAll('\0', ''))
  const doc = fc.dictionary(text, fc.oneof(text, fc.integer(), fc.boolean(), fc.constant(null)))
  const values = fc.tuple(text, fc.array(fc.option(text)), doc, fc.uint8Array(), fc.boolean(), fc.integer())
  await fc.assert(
    fc.asyncProperty(values, async ([one, list, json, bytes, flag, big]) => {
      const sent = Buffer.from(bytes)
      const [row] = await database.run(echo, [one, list, json, sent, flag, big])
      expect(row).toEqual({ text: one, list, doc: json, bytes: sent, flag, big: String(big) })
    }),
    { numRuns: 200 },
  )
})

test('the first statements of new connections get their own rows, and the role', async () => {
  const fresh = open(8)
  const who = statement<{ readonly n: number; readonly role: string }>(
    'test.who',
    'select $1::int as n, current_user::text as role',
  )
  const asked = Array.from({ length: 40 }, (_, n) => n)
  const rows = await Promise.all(asked.map((n) => fresh.run(who, [n])))
  expect(rows).toEqual(asked.map((n) => [{ n, role: 'supabase_auth_admin' }]))
  await fresh.close()
})

test('a transaction keeps all of its statements or none', async () => {
  const kept = await database.transaction(async (run) => [await run(insert, [1]), await run(insert, [2])])
  expect(kept).toEqual([[{ id: 1 }], [{ id: 2 }]])
  const failing = database.transaction(async (run) => {
    await run(insert, [3])
    await run(insert, [1])
  })
  await expect(failing).rejects.toMatchObject({ sqlstate: '23505' })
  const first = database.transaction((run) => run(insert, [1]))
  await expect(first).rejects.toMatchObject({ sqlstate: '23505' })
  const given = database.transaction(async (run) => {
    await run(insert, [4])
    throw new Error('given up')
  })
  await expect(given).rejects.toThrow('given up')
  expect(await database.transaction(async () => 'nothing asked')).toBe('nothing asked')
  expect(await database.run(count)).toEqual([{ count: 2 }])
})

test('a failure that the work swallows is one of the transaction', async () => {
  const swallowed = database.transaction(async (run) => {
    await run(insert, [9])
    await run(insert, [1]).catch(() => undefined)
  })
  await expect(swallowed).rejects.toThrow('nothing was kept')
  expect(await database.run(count)).toEqual([{ count: 2 }])
})

test('statements that are asked for at once go together, in order, and see what went before', async () => {
  const at = new URL(db.ownerUrl)
  const proxy = await startProxy(Number(at.port))
  at.port = String(proxy.port)
  const proxied = open(1, at.href)
  onTestFinished(async () => {
    await proxied.close()
    await proxy.close()
    await database.run(statement('test.clear', 'delete from notes where id >= 20'))
  })
  const work = (id: number) =>
    proxied.transaction(async (run) => {
      const together = await Promise.all([run(insert, [id]), run(count), run(insert, [id + 1]), run(count)])
      return [...together, await run(count)]
    })
  await work(20)
  proxy.clear()
  const [first, before, second, after, last] = await work(30)
  expect([first, second]).toEqual([[{ id: 30 }], [{ id: 31 }]])
  expect([before, after, last]).toEqual([[{ count: 5 }], [{ count: 6 }], [{ count: 6 }]])
  expect(proxy.chunks().map(messageTypes)).toEqual(['BEBEBEBEBES', 'BES', 'BES'])
})

test('when one of several at once fails all do, and nothing follows the end of a transaction', async () => {
  const work = database.transaction((run) => Promise.all([run(insert, [10]), run(insert, [1]), run(insert, [11])]))
  await expect(work).rejects.toMatchObject({ sqlstate: '23505' })
  let late: Promise<unknown> = Promise.resolve()
  const left = database.transaction(async (run) => {
    late = run(count)
      .then(() => run(insert, [12]))
      .catch((error: unknown) => error)
    throw new Error('given up')
  })
  await expect(left).rejects.toThrow('given up')
  expect(await late).toMatchObject({ message: 'The transaction has ended.' })
  expect(await database.run(count)).toEqual([{ count: 2 }])
})

test('statements that commit together are one round trip, and kept all or not at all', async () => {
  const at = new URL(db.ownerUrl)
  const proxy = await startProxy(Number(at.port))
  at.port = String(proxy.port)
  const proxied = open(1, at.href)
  const both = (first: number, second: number) =>
    proxied.together((run) => Promise.all([run(insert, [first]), run(insert, [second]), run(count)]))
  onTestFinished(async () => {
    await proxied.close()
    await proxy.close()
  })
  await both(40, 41)
  proxy.clear()
  expect(await both(42, 43)).toEqual([[{ id: 42 }], [{ id: 43 }], [{ count: 6 }]])
  expect(proxy.chunks().map(messageTypes)).toEqual(['BEBEBES'])
  await expect(both(44, 40)).rejects.toMatchObject({ sqlstate: '23505' })
  const swallowed = proxied.together((run) => Promise.allSettled([run(insert, [45]), run(insert, [40])]))
  await expect(swallowed).rejects.toThrow('nothing was kept')
  const late = proxied.together(async (run) => {
    await run(insert, [46])
    await run(insert, [47])
  })
  await expect(late).rejects.toThrow('sent already')
  expect(await proxied.together(async () => 'nothing asked')).toBe('nothing asked')
  expect(await proxied.run(statement('test.ids', 'select id from notes where id >= 40 order by id'))).toEqual([
    { id: 40 },
    { id: 41 },
    { id: 42 },
    { id: 43 },
    { id: 46 },
  ])
})
