import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Exchange, PartyKind, RequestContext } from '../../../../runtime/contract/execution.ts'
import { openDatabase, type Database } from '../../../../runtime/db/pool/pool.ts'
import { createShares, type Lease, type Shares } from '../../../../runtime/db/pool/shares.ts'
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

describe('shares', () => {
  test('nobody holds all connections, and who gave back what he held may take it again', () => {
    const kinds = fc.constantFrom<PartyKind>('stranger', 'member', 'service')
    const steps = fc.array(fc.record({ party: fc.nat(4), kind: kinds, gives: fc.boolean() }), { maxLength: 300 })
    fc.assert(
      fc.property(fc.integer({ min: 4, max: 12 }), steps, (size, drawn) => {
        const shares = createShares(size)
        const held: (RequestContext & { readonly lease: Lease })[] = []
        for (const { party, kind, gives } of drawn) {
          const last = gives ? held.pop() : undefined
          last?.lease()
          const context = contextOf(`${kind}${kind === 'service' ? '' : party}`, kind)
          if (held.length < shares.max && shares.mayAcquire(context)) {
            held.push({ ...context, lease: shares.acquire(context) })
          }
          const count = (of: (one: RequestContext) => boolean): number => held.filter(of).length
          expect(count((one) => one.kind !== 'service')).toBeLessThanOrEqual(size)
          expect(count((one) => one.kind === 'stranger')).toBeLessThanOrEqual(size - 1)
          for (const one of held) {
            const most = one.kind === 'service' ? size : size - 2
            expect(count(({ party: other }) => other === one.party)).toBeLessThanOrEqual(most)
            expect(shares.heldBy(one.party)).toBe(count(({ party: other }) => other === one.party))
          }
        }
        for (const { lease } of held) lease()
        expect(shares.mayAcquire(contextOf('new', 'stranger'))).toBe(true)
      }),
    )
  })
})

describe('the share of quick callers', () => {
  const stranger = (party: string): RequestContext => contextOf(party, 'stranger')
  const setUp = () => {
    const clock = { ms: 0 }
    const shares = createShares(8, () => clock.ms)
    const hold = (context: RequestContext, ms: number): void => {
      const lease = shares.acquire(context)
      clock.ms += ms
      lease()
    }
    const quick = stranger('quick')
    for (let index = 0; index < 5; index += 1) hold(quick, 2)
    return { clock, shares, hold, quick }
  }
  const takeAll = (shares: Shares, name: string): number => {
    let taken = 0
    for (; shares.mayAcquire(stranger(`${name} ${taken}`)); taken += 1) shares.acquire(stranger(`${name} ${taken}`))
    return taken
  }
  /** Callers who were slow once. */
  const makeSlow = (hold: (context: RequestContext, ms: number) => void, name: string): void => {
    for (let index = 0; index < 8; index += 1) hold(stranger(`${name} ${index}`), 101)
    for (let index = 0; index < 5; index += 1) hold(stranger('quick'), 2)
  }

  test('is half from those who were slow, two from new callers, and only those who were quick five times may take them', () => {
    const { shares, hold, quick } = setUp()
    makeSlow(hold, 'slow')
    expect(takeAll(shares, 'slow')).toBe(4)
    expect(takeAll(shares, 'new')).toBe(2)
    expect(shares.mayAcquire(quick)).toBe(true)
    for (let index = 0; index < 2; index += 1) hold(quick, 101)
    expect(shares.mayAcquire(quick)).toBe(false)
  })

  test('lets a new caller in while many who are known to be slow hold what they may', () => {
    const { shares, hold } = setUp()
    makeSlow(hold, 'slow')
    takeAll(shares, 'slow')
    expect(shares.mayAcquire(stranger('slow 7'))).toBe(false)
    expect(shares.mayAcquire(stranger('new'))).toBe(true)
    hold(stranger('new'), 2)
    expect(shares.mayAcquire(stranger('new'))).toBe(true)
  })

  test('is not earned by requests that are given up, however soon', () => {
    const { shares, hold } = setUp()
    const leaving: RequestContext = { ...stranger('leaving'), aborted: true }
    for (let index = 0; index < 20; index += 1) hold(leaving, 1)
    takeAll(shares, 'new')
    expect(shares.mayAcquire(leaving)).toBe(false)
  })

  test('is everybody’s again a second after the last quick request', () => {
    const { clock, shares } = setUp()
    expect(takeAll(shares, 'new')).toBe(6)
    clock.ms += 1_000
    expect(takeAll(shares, 'late')).toBe(1)
  })
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
