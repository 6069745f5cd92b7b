import { setImmediate } from 'node:timers/promises'
import fc from 'fast-check'
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import type { Exchange } from '../../../../runtime/contract/execution.ts'
import { openDatabase, type Database } from '../../../../runtime/db/pool/pool.ts'
import { createSchemaMarks, type SchemaMarks } from '../../../../runtime/db/check/schema-marks.ts'
import type { Query } from '../../../../runtime/db/connect/session.ts'
import { counterExpression, counterOf, versionExpression } from '../../../../runtime/db/check/version.ts'
import { createDatabase, type TestDatabase } from '../../../support/database.ts'
import { forSuite } from '../../../support/for-suite.ts'
import { lawMajors } from '../../../support/whole.ts'
import { openText } from '../../../support/open-text.ts'
import { startProxy } from '../../../support/recording-proxy.ts'

const sql = `
  create table notes (id int);
  create table a (id int);
  create table b (id int);
  create table c (id int);
  grant all on notes to anon;
`

const plain = { role: 'anon', superuser: false, held: new Set<string>() } as const

/** The marks that a request may compare instead of reading the counter of schema changes (runtime/db/check/schema-marks.ts). */
describe.each(lawMajors())('the mark of the schema with PostgreSQL %i', (major) => {
  let db: Database
  const database = forSuite(createDatabase, {
    major,
    isolated: true,
    prepare: true,
    sql,
    superuser: 'makes roles superusers',
  })
  const other = forSuite(() => createDatabase({ beside: database }))
  const proxy = forSuite(() => startProxy(Number(new URL(database.url).port)))
  beforeEach(() => {
    const url = new URL(database.url)
    url.port = String(proxy.port)
    db = openDatabase({ url: url.href, schemas: ['public'], poolSize: 1 })
  })
  afterEach(() => db.close())

  const one = async (text: string): Promise<string> => String((await database.query(`select (${text}) as v`)).rows[0].v)
  const markNow = (): Promise<string> => one('select last_value from catalograph.schema_mark')

  /** Its privileges are what make the counter enough. */
  const request = async (more: Partial<Exchange> = {}): Promise<Exchange> => ({
    caller: { role: 'anon', claims: '{"role":"anon"}' },
    version: await one(versionExpression),
    privileges: { ...plain, holders: ['service_role'] },
    readOnly: true,
    statements: [{ name: 'test one', text: openText('select 1 as r'), values: [], carriesCheck: true }],
    ...more,
  })
  const fails = (exchange: Exchange) =>
    db.run(exchange).then(
      () => expect.unreachable('it should have failed'),
      (error: unknown) => error,
    )

  /** Whether the request compares the present mark, rather than looks. */
  const relies = async (exchange: Exchange): Promise<boolean> => {
    const mark = await markNow()
    proxy.clear()
    // A mark that has changed is one reason to be outdated, and is compared no more then.
    expect(await db.run(exchange).catch(() => db.run(exchange))).toEqual([['1']])
    return proxy.chunks().some((bytes) => /SELECT 1|test one/i.test(bytes.toString('latin1')) && bytes.includes(mark))
  }
  const relying = (exchange: Exchange) => expect.poll(() => relies(exchange), { timeout: 10_000 }).toBe(true)
  /** Longer than it takes until the mark is looked at again. */
  const aWhile = () => new Promise((resolve) => setTimeout(resolve, 1_200))
  const inTurns = async (exchange: Exchange): Promise<readonly boolean[]> => {
    const first = await relies(exchange)
    await aWhile()
    return [first, await relies(exchange), await relies(exchange)]
  }

  test('a warm request compares it, also where others write', async () => {
    const exchange = await request()
    await relying(exchange)
    await database.query('insert into notes values (1)')
    expect(await relies(exchange)).toBe(true)
  })

  test('a warm request is sent once, however many roles hold something', async () => {
    const holders = Array.from({ length: 20 }, () => 'service_role')
    const exchange = await request({ privileges: { ...plain, holders } })
    await relying(exchange)
    expect(await relies(exchange)).toBe(true)
    expect(proxy.chunks().filter((bytes) => bytes.includes(exchange.caller.claims))).toHaveLength(1)
  })

  test('a request that runs under an older or a whole version looks', async () => {
    const exchange = await request()
    await relying(exchange)
    expect(await relies(await request({ privileges: undefined }))).toBe(false)
    expect(await fails({ ...exchange, version: '0.0' })).toMatchObject({ kind: 'stale' })
  })

  test('a change is noticed from its commit on', async () => {
    const exchange = await request()
    await relying(exchange)
    await database.query('begin; create table appearing ()')
    expect(await relies(exchange)).toBe(false)
    await database.query('commit')
    expect(await fails(exchange)).toMatchObject({ kind: 'stale' })
    await relying(await request())
    await database.query('drop table appearing')
    expect(await fails(exchange)).toMatchObject({ kind: 'stale' })
  })

  test('nothing relies on a mark while the change that set it is not decided', async () => {
    await database.query('begin; create table pending ()')
    const exchange = await request({ version: await otherSession(versionExpression) })
    expect(await inTurns(exchange)).toEqual([false, false, false])
    await database.query('commit')
    expect(await fails(exchange)).toMatchObject({ kind: 'stale' })
    await database.query('drop table pending')
  })

  test('nor while any transaction of another database runs that was there before', async () => {
    const exchange = await request()
    await other.query('begin; create temporary table x ()')
    await database.query('create table passing (); drop table passing')
    const now = await request()
    expect(await inTurns(now)).toEqual([false, false, false])
    await other.query('commit')
    await relying(now)
    expect(await fails(exchange)).toMatchObject({ kind: 'stale' })
  })

  test('a change that was rolled back costs no more than a second of looking', async () => {
    const exchange = await request()
    await relying(exchange)
    await database.query('begin; create table never (); rollback')
    expect(await relies(exchange)).toBe(false)
    await relying(exchange)
  })

  const inherits = major < 16 ? '' : ' with inherit true'
  test.each([
    [
      `grant service_role to anon${inherits}; alter role anon inherit`,
      'alter role anon noinherit; revoke service_role from anon',
      {},
    ],
    ['alter role anon superuser', 'alter role anon nosuperuser', {}],
    ['alter role anon bypassrls', 'alter role anon nobypassrls', { bypassRls: false }],
    ['alter role anon nosuperuser', 'alter role anon superuser', { superuser: true }],
    ['alter role anon nosuperuser', 'alter role anon superuser', { superuser: true, holders: [] }],
  ])('roles have no mark, so what a role counts as is asked every time: %s', async (change, restore, more) => {
    const superuser = 'superuser' in more
    if (superuser) await database.query(restore)
    const holders = ['service_role']
    const held = new Set(superuser ? holders : [])
    const exchange = await request({ privileges: { ...plain, superuser, holders, held, ...more } })
    await relying(exchange)
    await database.query(change)
    expect(await fails(exchange)).toMatchObject({ kind: 'stale' })
    await database.query(restore)
    await relying(exchange)
    if (superuser) await database.query(change)
  })

  test('a transaction that changes the schema itself goes on', async () => {
    await database.query(`create function change() returns int language plpgsql security definer as
      $$ begin create table if not exists changed (); return 1; end $$`)
    const exchange = await request({ readOnly: false })
    await relying(exchange)
    const change = {
      name: 'test change',
      text: openText('select public.change() as r'),
      values: [],
      carriesCheck: true,
    } as const
    const [statement] = exchange.statements
    if (statement === undefined) throw new Error('no statement')
    expect(await db.run({ ...exchange, statements: [change, statement] })).toEqual([['1'], ['1']])
    expect(await fails(exchange)).toMatchObject({ kind: 'stale' })
    await database.query('drop table changed; drop function change')
  })

  test('the mark is another number with every change', async () => {
    const seen = new Set<string>()
    for (let n = 0; n < 20; n += 1) {
      await database.query(`comment on table notes is '${n}'`)
      seen.add(await markNow())
    }
    expect(seen.size).toBe(20)
    expect(Number(counterOf(await one(versionExpression)))).toBeGreaterThanOrEqual(20)
  })

  test('as long as the mark is the newest known one, its counter is the one that all sessions see', async () => {
    const tables = ['a', 'b', 'c'] as const
    const step = fc.oneof(
      { weight: 3, arbitrary: fc.record({ kind: fc.constant('change' as const), by: fc.constantFrom(...tables) }) },
      { weight: 2, arbitrary: fc.record({ kind: fc.constant('commit' as const), by: fc.constantFrom(...tables) }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('rollback' as const), by: fc.constantFrom(...tables) }) },
      { weight: 3, arbitrary: fc.constant({ kind: 'look' as const }) },
    )
    const clients = new Map<string, pg.Client>()
    for (const table of tables) clients.set(table, await connected(database.ownerUrl))
    let told = 0
    const seed = Number(process.env['FC_SEED'] ?? Date.now() % 1e9)
    const law = fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const open = new Set<string>()
      const looking = createLooking(database)
      for (const { kind, ...rest } of steps) {
        const by = 'by' in rest ? rest.by : ''
        const client = clients.get(by)
        if (kind === 'look') await looking.look()
        else if (kind === 'change') {
          if (!open.has(by)) await client?.query('begin')
          open.add(by)
          await client?.query(`comment on table ${by} is 'changed'`)
        } else if (open.delete(by)) await client?.query(kind)
        const { rows } = await database.query(
          `select ${counterExpression} as counter, (select last_value::text from catalograph.schema_mark) as value`,
        )
        const newest = looking.newest()
        if (newest?.value !== rows[0].value) continue
        told += 1
        expect(newest).toEqual(rows[0])
      }
      for (const by of open) await clients.get(by)?.query('rollback')
    })
    onTestFinished(async () => {
      for (const client of clients.values()) await client.end()
    })
    await fc.assert(law, { seed, numRuns: 60, endOnFailure: true })
    expect(told).toBeGreaterThan(20)
  })

  test('has another value after each change, though its session repeats what is random', async () => {
    const changed = async (): Promise<readonly string[]> => {
      await database.query(`select setseed(0.5); comment on table a is 'seeded'`)
      return [await markNow(), await one(counterExpression)]
    }
    const [first, second] = [await changed(), await changed()]
    expect(Number(second[1]) - Number(first[1])).toBeGreaterThan(0)
    expect(second[0]).not.toBe(first[0])
  })

  /** The view of other sessions while a transaction of `database` is open. */
  const otherSession = async (expression: string): Promise<string> => {
    const outside = openDatabase({ url: database.url, schemas: ['public'], poolSize: 1 })
    try {
      return (await outside.query<{ v: string }>(`select ${expression} as v`)).rows[0]?.v ?? ''
    } finally {
      await outside.close()
    }
  }
})

const connected = async (url: string): Promise<pg.Client> => {
  const client = new pg.Client(url)
  await client.connect()
  return client
}

/** Marks that look on demand, and are waited for. */
const createLooking = ({
  query,
}: TestDatabase): { readonly look: () => Promise<void>; readonly newest: SchemaMarks['newest'] } => {
  let time = 0
  const pending: Promise<unknown>[] = []
  const watched = (text: string, values?: readonly unknown[]) => {
    const answer = query(text, values)
    pending.push(answer)
    return answer
  }
  const marks = createSchemaMarks(watched as Query, () => time)
  const look = async (): Promise<void> => {
    time += 10_000
    marks.refreshIfDue()
    for (let done = 0; done < pending.length; done += 1) {
      await pending[done]
      await setImmediate()
    }
    pending.length = 0
  }
  return { look, newest: marks.newest }
}
