import { describe, expect, test } from 'vitest'
import type { Exchange, RequestContext } from '../../../../runtime/contract/execution.ts'
import { openDatabase, type Database } from '../../../../runtime/db/pool/pool.ts'
import type { PartyKind } from '../../../../runtime/lib/sharing/places.ts'
import { createDatabase, openQuery } from '../../../support/database.ts'
import { forSuite } from '../../../support/for-suite.ts'

const contextOf = (party: string, kind: PartyKind): RequestContext => ({
  party,
  kind,
  deadline: Infinity,
  aborted: false,
  timeline: null,
  position: null,
  onAbort: null,
})

describe('connections under load', () => {
  const database = forSuite(createDatabase)
  const open = async (connectTimeout: number, poolSize = 4): Promise<Database> =>
    openDatabase({ url: database.url, schemas: ['public'], poolSize, connectTimeout, lockTimeout: 20_000 })
  const db = forSuite(open, 700)
  /** Of tests in which all that wait are served, however slow the machine is. */
  const patient = forSuite(open, 20_000)

  const exchange = (text: string): Exchange => ({
    caller: { role: 'anon', claims: '{"role":"anon"}' },
    version: null,
    readOnly: true,
    statements: [{ name: text.slice(-40), text, values: [] }],
  })
  const ask = (text: string, party: string, kind: PartyKind) => db.run(exchange(text), contextOf(party, kind))

  test('while strangers wait for slow statements, users, the owner and other strangers are answered', async () => {
    const slow = Array.from({ length: 40 }, (_, index) => ask('select pg_sleep(3)', `10.0.0.${index % 2}`, 'stranger'))
    const settled = Promise.allSettled(slow)
    const start = performance.now()
    expect(await ask('select 1', 'ada', 'member')).toEqual([['1']])
    expect(await ask('select 2', 'service_role', 'service')).toEqual([['2']])
    expect(performance.now() - start).toBeLessThan(1_500)
    const kinds = (await settled).map((one) =>
      one.status === 'fulfilled' ? 'served' : (one.reason as { kind: string }).kind,
    )
    expect(new Set(kinds)).toEqual(new Set(['served', 'overloaded']))
    expect(kinds.filter((kind) => kind === 'served')).toHaveLength(4)
  })

  /** Sleeps; when it began and when it ended, by the clock of the server. */
  const times = async (seconds: number, party: string, kind: PartyKind): Promise<readonly [number, number]> => {
    const text = `select extract(epoch from statement_timestamp()), extract(epoch from clock_timestamp()) from pg_sleep(${seconds})`
    const [row] = await patient.run(exchange(text), contextOf(party, kind))
    return [Number(row?.[0]), Number(row?.[1])]
  }

  test('of those who wait, the one who holds the fewest is served first', async () => {
    const held = ['a', 'a', 'b'].map((party) => times(0.2, party, 'member'))
    const queued = ['a', 'a', 'c', 'd'].map(async (party) => [(await times(0.15, party, 'member'))[0], party] as const)
    const order = (await Promise.all(queued)).toSorted(([one], [other]) => one - other).map(([, party]) => party)
    expect(order.slice(0, 2).toSorted()).toEqual(['c', 'd'])
    await Promise.all(held)
  })

  test('quick callers are answered while many strangers are slow, who have all connections without quick callers', async () => {
    const quick = (): Promise<unknown> => patient.run(exchange('select 1'), contextOf('quick', 'stranger'))
    for (let index = 0; index < 6; index += 1) await quick()
    await database.query('select pg_advisory_lock(1)')
    const waiting = Array.from({ length: 4 }, (_, index) =>
      patient.run(exchange('select pg_advisory_xact_lock_shared(1)'), contextOf(`10.1.0.${index}`, 'stranger')),
    )
    for (let index = 0; index < 20; index += 1) await quick()
    await database.query('select pg_advisory_unlock(1)')
    await Promise.all(waiting)
    await new Promise((resolve) => setTimeout(resolve, 1_100))
    const slow = await Promise.all([0, 1, 2].map((index) => times(1, `10.1.0.${index}`, 'stranger')))
    expect(Math.max(...slow.map(([began]) => began))).toBeLessThan(Math.min(...slow.map(([, ended]) => ended)))
  })

  test('requests that wait for a lock are slow while they wait, and leave the rest to quick ones', async () => {
    await database.query('create table locked (id int); grant select on locked to anon')
    const [holder, shared] = [openQuery(database.ownerUrl), await open(20_000, 8)]
    const run = (text: string, party: string) => shared.run(exchange(text), contextOf(party, 'member'))
    const users = ['a', 'b', 'c', 'd']
    for (const party of [...users, 'quick']) for (let n = 0; n < 6; n += 1) await run('select 1', party)
    for (let n = 0; n < 2; n += 1) await run('select pg_sleep(0.12)', 'slow')
    await holder.query('begin; lock table locked in access exclusive mode')
    const waiting = users.map((party) => run('select count(*) from locked', party))
    const order: string[] = []
    await new Promise((resolve) => setTimeout(resolve, 150))
    await run('select 1', 'quick')
    const slow = run('select 1', 'slow').then(() => order.push('slow'))
    for (let n = 0; n < 20; n += 1) await run('select 1', 'quick')
    order.push('quick')
    await holder.query('rollback')
    await Promise.all([slow, ...waiting])
    expect(order).toEqual(['quick', 'slow'])
    await Promise.all([holder.end(), shared.close()])
  })

  test('a request that would wait behind too many of the same party is refused at once', async () => {
    const many = Array.from({ length: 260 }, () => ask('select pg_sleep(0.01)', 'crowd', 'stranger'))
    const kinds = await Promise.all(
      many.map((one) =>
        one.then(
          () => 'served',
          (error: { kind: string }) => error.kind,
        ),
      ),
    )
    expect(kinds.filter((kind) => kind === 'overloaded').length).toBeGreaterThanOrEqual(50)
    expect(kinds.filter((kind) => kind === 'served').length).toBeGreaterThan(0)
  })
})
