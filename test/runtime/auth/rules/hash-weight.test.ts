import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { hashWork, remainingMs, stepMs } from '../../../../runtime/auth/rules/credentials.ts'

const of12 = '$2b$12'
const argon2 = '$argon2id$v=19$m=65536,t=3'
const firebase = '$fbscrypt$v=1,n=14,r=8,p=1'

describe('the work of a hash', () => {
  it.each([
    ['$2a$10$', 1],
    ['$2y$04$', 1 / 64],
    [of12, 4],
    ['$2b$14$', 16],
    [argon2, 1.96608],
    [`${argon2},p=4$c2FsdA$aGFzaA`, 1.96608],
    [firebase, 1.31072],
    ['plain', 0],
    ['', 0],
  ])('%s is %d hashes of cost 10', (kind, work) => {
    expect(hashWork(kind)).toBe(work)
  })
})

describe('the step of failing comparisons', () => {
  it('is that of the slowest kind that is stored, and never less than that of our own', () => {
    const step = (...kinds: string[]): number => stepMs({ kinds, cost: 10, quickestMs: 80 })
    expect([step(), step('$2b$04$'), step(firebase), step(of12, argon2)]).toEqual([160, 160, 210, 640])
    expect(step('$2b$14$')).toBe(2_560)
  })

  it('has a usual length before the first hash, and a longest one', () => {
    expect(stepMs({ kinds: [], cost: 10, quickestMs: null })).toBe(200)
    expect(stepMs({ kinds: [], cost: 5, quickestMs: null })).toBe(7)
    expect(stepMs({ kinds: ['$argon2id$v=19$m=999999,t=99'], cost: 10, quickestMs: 80 })).toBe(6_000)
  })
})

test('attack 22: of any two comparisons that fit into a step both end at the same time', () => {
  const took = fc.double({ min: 0, max: 1, noNaN: true })
  fc.assert(
    fc.property(took, took, fc.integer({ min: 2, max: 6_000 }), (one, other, step) => {
      const ends = [one, other].map((part) => part * step + remainingMs(part * step, step))
      expect(ends[0]).toBeCloseTo(step, 6)
      expect(ends[1]).toBeCloseTo(step, 6)
    }),
  )
})

test('attack 22: any comparison ends on a multiple of the step, or after six seconds, or on its own', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 20_000 }), fc.integer({ min: 2, max: 6_000 }), (took, step) => {
      const wait = remainingMs(took, step)
      const end = took + wait
      expect(end % step === 0 || end === Math.max(took, 6_000)).toBe(true)
      expect(end).toBeGreaterThan(0)
      expect(wait).toBeGreaterThanOrEqual(0)
      expect(wait).toBeLessThanOrEqual(step)
    }),
  )
})

test('attack 22: the step of a stored kind has room for twice its work', () => {
  const cost = fc.integer({ min: 4, max: 14 }).map((one) => `$2b$${String(one).padStart(2, '0')}$`)
  const memory = fc.tuple(fc.integer({ min: 8, max: 65_536 }), fc.integer({ min: 1, max: 4 }))
  const kind = fc.oneof(
    cost,
    memory.map(([m, t]) => `$argon2id$v=19$m=${m},t=${t}`),
    fc.constant(firebase),
  )
  fc.assert(
    fc.property(fc.array(kind), kind, fc.integer({ min: 20, max: 180 }), (others, one, quickestMs) => {
      const step = stepMs({ kinds: [...others, one], cost: 10, quickestMs })
      expect(step).toBeGreaterThanOrEqual(Math.min(6_000, 2 * quickestMs * hashWork(one)))
      expect(step).toBe(stepMs({ kinds: [one, ...others.toReversed()], cost: 10, quickestMs }))
    }),
  )
})
