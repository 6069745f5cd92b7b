import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Exchange, RequestContext } from '../../../../runtime/contract/execution.ts'
import { openDatabase, type Database } from '../../../../runtime/db/pool/pool.ts'
import type { PartyKind } from '../../../../runtime/lib/sharing/places.ts'
import { createDatabase } from '../../../support/database.ts'
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
  let db: Database
  const database = forSuite(createDatabase)
  beforeAll(async () => {
    db = openDatabase({ url: database.url, schemas: ['public'], poolSize: 4, connectTimeout: 700 })
  })
  afterAll(() => db.close())

  const exchange = (text: string): Exchange => ({
    caller: { role: 'anon', claims: '{"role":"anon"}' },
    version: null,
    readOnly: true,
    statements: [{ name: text, text, values: [] }],
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
    expect(kinds.filter((kind) => kind === 'served')).toHaveLength(3)
  })

  test('of those who wait, the one who holds the fewest is served first', async () => {
    const [first, ...rest] = ['a', 'a', 'b'].map((party) => ask('select pg_sleep(0.2)', party, 'member'))
    const order: string[] = []
    const queued = ['a', 'a', 'c', 'd'].map(async (party) => {
      await ask('select pg_sleep(0.15)', party, 'member')
      order.push(party)
    })
    await Promise.all([first, ...rest, ...queued])
    expect(order.slice(0, 2).sort()).toEqual(['c', 'd'])
  })

  test('quick callers are answered while many strangers are slow, who have all connections once nobody is quick', async () => {
    const began = 'select extract(epoch from clock_timestamp()) from pg_sleep(1)'
    const slow = (count: number) =>
      Array.from({ length: count }, (_, index) =>
        ask(began, `10.1.0.${index}`, 'stranger').then(([row]) => Number(row?.[0])),
      )
    for (let index = 0; index < 6; index += 1) await ask('select 1', 'quick', 'stranger')
    const order: string[] = []
    const first = slow(4).map((one) =>
      one.then(
        () => order.push('slow'),
        () => order.push('refused'),
      ),
    )
    for (let index = 0; index < 20; index += 1) await ask('select 1', 'quick', 'stranger')
    order.push('quick')
    await Promise.all(first)
    expect(order[0]).toBe('quick')
    await new Promise((resolve) => setTimeout(resolve, 1_100))
    const ends = await Promise.all(slow(3))
    expect(Math.max(...ends) - Math.min(...ends)).toBeLessThan(0.9)
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
