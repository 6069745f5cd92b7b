import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createByteBudget, type ByteOwner } from '../../../runtime/lib/byte-budget.ts'

const byteOwner = (party: string, kind: ByteOwner['kind'] = 'member'): ByteOwner => ({ party, kind })

describe('a budget of bytes', () => {
  it('gives a party its share and no more, and others theirs', () => {
    const budget = createByteBudget({ bytes: 100, share: 25 })
    const [first, second, other] = [
      budget.open(byteOwner('a')),
      budget.open(byteOwner('a')),
      budget.open(byteOwner('b')),
    ]
    expect([first.take(20), second.take(6), second.take(5), other.take(25)]).toEqual([true, false, true, true])
    expect(budget.usage.bytes).toBe(50)
    first.release()
    expect([second.take(20), budget.hasRoom(byteOwner('a'), 1)]).toEqual([true, false])
  })
  it('keeps a share for others than strangers', () => {
    const budget = createByteBudget({ bytes: 100, share: 25 })
    const strangers = ['a', 'b', 'c', 'd'].map((party) => budget.open(byteOwner(party, 'stranger')))
    expect(strangers.map((holding) => holding.take(25))).toEqual([true, true, true, false])
    expect(budget.open(byteOwner('user')).take(25)).toBe(true)
    strangers[0]?.release()
    expect(strangers[3]?.take(25)).toBe(true)
  })
  it('lets those in who wait for room, and past one for whom there is none yet', async () => {
    const budget = createByteBudget({ bytes: 100, share: 60 })
    const [large, small] = [budget.open(byteOwner('a')), budget.open(byteOwner('b'))]
    large.take(60)
    small.take(40)
    const told: string[] = []
    budget.open(byteOwner('a')).wait(60, 5_000, (taken) => told.push(`a ${taken}`))
    budget.open(byteOwner('c')).wait(40, 5_000, (taken) => told.push(`c ${taken}`))
    const room = budget.room(byteOwner('d'), 1, 5_000)
    small.release()
    expect(told).toEqual(['c true'])
    large.release()
    expect(told).toEqual(['c true', 'a true'])
    await expect(Promise.race([room, Promise.resolve('waits')])).resolves.toBe('waits')
  })
  it('ends a waiting that is in vain', async () => {
    const budget = createByteBudget({ bytes: 10, share: 10 })
    budget.open(byteOwner('a')).force(12)
    expect(await budget.room(byteOwner('a'), 1, 20)).toBe(false)
    expect(await new Promise((resolve) => budget.open(byteOwner('b')).wait(1, 20, resolve))).toBe(false)
    expect(budget.usage.bytes).toBe(12)
  })
  it('never gives more than there is, answers each caller once, and has all of it back in the end', () => {
    const act = fc.record({
      kind: fc.constantFrom('take', 'wait', 'release'),
      at: fc.nat(9),
      bytes: fc.integer({ min: 1, max: 40 }),
    })
    fc.assert(
      fc.property(fc.array(act, { maxLength: 60 }), (acts) => {
        const budget = createByteBudget({ bytes: 100, share: 40 })
        const holdings = Array.from({ length: 10 }, (_, index) => ({
          held: 0,
          holding: budget.open(byteOwner(`p${index % 3}`)),
        }))
        let tellings = 0
        let waits = 0
        const check = (): void => {
          const sums = [0, 1, 2].map((party) =>
            holdings.reduce((sum, { held }, index) => sum + (index % 3 === party ? held : 0), 0),
          )
          expect(Math.max(...sums)).toBeLessThanOrEqual(40)
          expect(budget.usage.bytes).toBe(sums.reduce((sum, one) => sum + one, 0))
          expect(budget.usage.bytes).toBeLessThanOrEqual(100)
        }
        const waiting = new Set<number>()
        for (const { kind, at, bytes } of acts) {
          const one = holdings[at]
          if (one === undefined) continue
          if (kind === 'release') {
            if (waiting.delete(at)) waits -= 1
            one.held = 0
            one.holding.release()
          } else if (kind === 'take' && one.holding.take(bytes)) one.held += bytes
          else if (kind === 'wait' && !waiting.has(at) && !budget.hasRoom(byteOwner(`p${at % 3}`), bytes)) {
            waits += 1
            waiting.add(at)
            one.holding.wait(bytes, 60_000, (taken) => {
              tellings += 1
              waiting.delete(at)
              if (taken) one.held += bytes
            })
          }
          check()
        }
        for (const { holding } of holdings) holding.release()
        expect(budget.usage.bytes).toBe(0)
        expect(tellings).toBeLessThanOrEqual(waits)
      }),
    )
  })
})
