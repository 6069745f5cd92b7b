import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Exchange, RequestContext, ResultRow } from '../../../runtime/contract/execution.ts'
import { openDatabase, type Database } from '../../../runtime/db/pool/pool.ts'
import { createDatabase, overSessions } from '../../support/database.ts'
import { forSuite } from '../../support/for-suite.ts'
import { lawMajors } from '../../support/whole.ts'

/** Requests that end before Postgres has ended them: the client leaves, the deadline passes, the process stops. */

const sql = `
  create table notes (id serial primary key, body text);
  grant all on all tables in schema public to anon;
  grant all on all sequences in schema public to anon;
  create function nap(seconds float) returns text language sql volatile as 'select pg_sleep(seconds); select ''rested''';
  create function stubborn() returns void language plpgsql as $$
    declare until timestamptz := clock_timestamp() + '20 s'; begin
    while clock_timestamp() < until loop
      begin perform pg_sleep(5); exception when query_canceled then null; end;
    end loop; end $$;
`

const caller = { role: 'anon', claims: '{"role":"anon"}' }

const exchange = (readOnly: boolean, ...texts: readonly string[]): Exchange => ({
  caller,
  version: null,
  readOnly,
  statements: texts.map((text) => ({ name: text, text, values: [] })),
})

const contextOf = (given: Partial<RequestContext> = {}): RequestContext => ({
  party: 'a',
  kind: 'stranger',
  deadline: Infinity,
  aborted: false,
  timeline: null,
  position: null,
  onAbort: null,
  ...given,
})

const leave = (context: RequestContext): void => {
  context.aborted = true
  context.onAbort?.()
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

const until = async (holds: () => Promise<boolean> | boolean, patienceMs: number): Promise<boolean> => {
  for (const start = performance.now(); performance.now() - start < patienceMs; await sleep(10))
    if (await holds()) return true
  return false
}

describe.each(lawMajors())('ending a request on PostgreSQL %i', (major) => {
  let db: Database
  /** All connections of a pool of two. */
  const all = [1, 2, 3, 4]
  const open = (poolSize: number) => openDatabase({ url: database.url, schemas: ['public'], poolSize })
  const running = async (text: string): Promise<number> => {
    const asked = `select count(*)::int as n from pg_stat_activity
      where datname = current_database() and state = 'active' and pid <> pg_backend_pid() and query like $1`
    return ((await overSessions(database).query(asked, [`%${text}%`])).rows[0] as { n: number }).n
  }
  /** A connection that an earlier test cancelled may come back late: a request of another caller would take it first. */
  const occupyAll = async (
    nap: string,
    contexts: readonly RequestContext[] = [],
  ): Promise<readonly Promise<unknown>[]> => {
    const asked = all.map((_, index) => db.run(exchange(true, `select ${nap}`), contexts[index]))
    for (const one of asked) one.catch(() => undefined)
    expect(await until(async () => (await running(nap)) === all.length, 3_000)).toBe(true)
    return asked
  }
  const database = forSuite(createDatabase, { major, sql })
  beforeAll(async () => {
    db = open(2)
    await Promise.all(all.map(() => db.run(exchange(true, 'select 1'))))
  })
  afterAll(() => db.close())

  test('a client that leaves is not served: what reads is cancelled, and its connection serves the next', async () => {
    const contexts = all.map((number) => contextOf({ party: String(number), kind: 'member' }))
    const asked = await occupyAll('pg_sleep(60.1)', contexts)
    const pids = db.run(exchange(true, 'select pg_backend_pid()'))
    for (const context of contexts) leave(context)
    await Promise.all(asked.map((one) => expect(one).rejects.toMatchObject({ kind: 'gone' })))
    expect(await until(async () => (await running('60.1')) === 0, 1_000)).toBe(true)
    expect((await pids)[0]?.[0]).toMatch(/^\d+$/)
  })

  test('a client that leaves while waiting is taken from the queue', async () => {
    const blocking = await occupyAll('pg_sleep(0.7)')
    const context = contextOf()
    const asked = db.run(exchange(false, `insert into notes (body) values ('never')`), context)
    await sleep(50)
    leave(context)
    await expect(asked).rejects.toMatchObject({ kind: 'gone' })
    await Promise.all(blocking)
    expect((await database.query(`select from notes where body = 'never'`)).rowCount).toBe(0)
  })

  test('a client that left before its turn is not served', async () => {
    await expect(db.run(exchange(true, 'select 1'), contextOf({ aborted: true }))).rejects.toMatchObject({
      kind: 'gone',
    })
  })

  test('a mutation whose client left goes on and commits', async () => {
    const context = contextOf()
    const asked = db.run(exchange(false, 'select nap(0.5)', `insert into notes (body) values ('kept')`), context)
    await sleep(100)
    leave(context)
    await asked
    expect((await database.query(`select from notes where body = 'kept'`)).rowCount).toBe(1)
  })

  test('past the deadline a request of many statements is cancelled, and nothing of it is kept', async () => {
    const naps = Array.from({ length: 16 }, () => 'select nap(0.3)')
    const start = performance.now()
    const context = contextOf({ deadline: start + 700 })
    const asked = db.run(exchange(false, `insert into notes (body) values ('late')`, ...naps), context)
    await expect(asked).rejects.toMatchObject({ kind: 'deadline', sqlstate: null })
    expect(performance.now() - start).toBeLessThan(2_500)
    expect((await database.query(`select from notes where body = 'late'`)).rowCount).toBe(0)
    expect(await running('nap')).toBe(0)
  })

  test('a request that waits past its deadline never runs', async () => {
    const blocking = await occupyAll('pg_sleep(0.6)')
    const context = contextOf({ deadline: performance.now() + 200 })
    await expect(db.run(exchange(true, 'select 1'), context)).rejects.toMatchObject({ kind: 'deadline' })
    await Promise.all(blocking)
  })

  // A machine that stood still for a second looks too late, and is asked again.
  const patient = { timeout: 20_000, retry: 2 }
  test(
    'a client that reads does not wait for a function that catches its cancellation, and it loses its backend',
    patient,
    async () => {
      const context = contextOf()
      const asked = expect(db.run(exchange(true, 'select stubborn()'), context)).rejects.toMatchObject({ kind: 'gone' })
      expect(await until(async () => (await running('stubborn')) === 1, 3_000)).toBe(true)
      leave(context)
      await asked
      expect(await running('stubborn')).toBe(1)
      expect(await until(async () => (await running('stubborn')) === 0, 8_000)).toBe(true)
      expect(await db.run(exchange(true, 'select 1'))).toEqual([['1']])
    },
  )

  test('a cancellation that comes around the end of a statement never reaches another request', async () => {
    const stops = fc.array(fc.integer({ min: 0, max: 6 }), { minLength: 40, maxLength: 80 })
    await fc.assert(
      fc.asyncProperty(stops, async (delays) => {
        const outcomes = delays.map(async (delay, index) => {
          const context = contextOf({ party: `p${index % 3}` })
          const asked = db.run(exchange(true, `select pg_sleep(${0.002 + (index % 3) / 1000}), ${index}`), context)
          const answered = asked.then(
            (rows) => rows[0]?.[1],
            (error: { kind?: string }) => error.kind,
          )
          await sleep(delay)
          leave(context)
          // It asks nothing of the one who left.
          const honest = db.run(exchange(true, `select ${index} + 1000`), contextOf({ party: 'honest' }))
          return { index, left: await answered, honest: (await honest)[0]?.[0] }
        })
        for (const { index, left, honest } of await Promise.all(outcomes)) {
          expect(honest).toBe(String(index + 1000))
          expect(['gone', String(index)]).toContain(left)
        }
      }),
      { numRuns: 6 },
    )
  }, 60_000)

  test('stopping cancels what runs, refuses what waits and all that comes', async () => {
    const other = open(1)
    const running = other.run(
      exchange(false, `insert into notes (body) values ('stopped')`, 'select nap(30)'),
      contextOf(),
    )
    const waiting = other.run(exchange(true, 'select 1'), contextOf())
    const told = Promise.all([running, waiting].map((one) => expect(one).rejects.toMatchObject({ kind: 'stopping' })))
    await sleep(200)
    other.stop()
    await told
    await expect(other.run(exchange(true, 'select 1'))).rejects.toMatchObject({ kind: 'stopping' })
    await other.close()
    expect((await database.query(`select from notes where body = 'stopped'`)).rowCount).toBe(0)
  })

  test('a read whose connection died is asked once more; a write is not', async () => {
    const other = open(1)
    const kill = async (): Promise<void> => {
      const pids = `select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and usename = 'authenticator' and query like '%0.41%' and state = 'active'`
      expect(await until(async () => (await overSessions(database).query(pids)).rowCount === 1, 3_000)).toBe(true)
    }
    const read: Promise<readonly ResultRow[]> = other.run(exchange(true, 'select pg_sleep(0.41), 7'), contextOf())
    await kill()
    expect((await read)[0]?.[1]).toBe('7')
    const written = other.run(exchange(false, 'select pg_sleep(0.41), 7'), contextOf())
    const told = expect(written).rejects.toMatchObject({ kind: 'unavailable' })
    await kill()
    await told
    await other.close()
  })
})
