import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Exchange, PartyKind, RequestContext } from '../../../../runtime/contract/execution.ts'
import { openDatabase, type Database } from '../../../../runtime/db/pool/pool.ts'
import { createShares } from '../../../../runtime/db/pool/shares.ts'
import { createDatabase, type TestDatabase } from '../../../support/database.ts'

const contextOf = (party: string, kind: PartyKind): RequestContext => ({
  party,
  kind,
  deadline: Infinity,
  gone: false,
  onGone: null,
})

describe('shares', () => {
  test('nobody holds all connections, and who gave back what he held may take it again', () => {
    const kinds = fc.constantFrom<PartyKind>('stranger', 'member', 'service')
    const steps = fc.array(fc.record({ party: fc.nat(4), kind: kinds, gives: fc.boolean() }), { maxLength: 300 })
    fc.assert(
      fc.property(fc.integer({ min: 4, max: 12 }), steps, (size, drawn) => {
        const shares = createShares(size)
        const held: RequestContext[] = []
        for (const { party, kind, gives } of drawn) {
          const last = gives ? held.pop() : undefined
          if (last !== undefined) shares.giveBack(last)
          const context = contextOf(`${kind}${kind === 'service' ? '' : party}`, kind)
          if (held.length < shares.max && shares.mayTake(context)) {
            shares.take(context)
            held.push(context)
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
        for (const one of held) shares.giveBack(one)
        expect(shares.mayTake(contextOf('new', 'stranger'))).toBe(true)
      }),
    )
  })
})

describe('connections under load', () => {
  let database: TestDatabase
  let db: Database
  beforeAll(async () => {
    database = await createDatabase()
    db = openDatabase({ url: database.url, schemas: ['public'], poolSize: 4, connectTimeout: 700 })
  })
  afterAll(async () => {
    await db.close()
    await database.drop()
  })

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
    const kinds = (await settled).map((one) => (one.status === 'fulfilled' ? 'served' : (one.reason as { kind: string }).kind))
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

  test('who would wait behind too many of the same party is refused at once', async () => {
    const many = Array.from({ length: 260 }, () => ask('select pg_sleep(0.01)', 'crowd', 'stranger'))
    const kinds = await Promise.all(many.map((one) => one.then(() => 'served', (error: { kind: string }) => error.kind)))
    expect(kinds.filter((kind) => kind === 'overloaded').length).toBeGreaterThanOrEqual(50)
    expect(kinds.filter((kind) => kind === 'served').length).toBeGreaterThan(0)
  })
})
