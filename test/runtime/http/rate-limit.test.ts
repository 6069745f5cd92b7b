import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createRateLimit } from '../../../runtime/http/rate-limit.ts'

it('a limit allows as many at once as a minute holds, then as many as time gives back', () => {
  const clock = { now: 0 }
  const limit = createRateLimit(60, () => clock.now)
  expect(Array.from({ length: 61 }, () => limit.take('a'))).toEqual([...Array.from({ length: 60 }, () => 0), 1_000])
  expect(limit.take('b')).toBe(0)
  clock.now = 500
  expect(limit.take('a')).toBe(500)
  clock.now = 1_000
  expect([limit.take('a'), limit.take('a')]).toEqual([0, 1_000])
})

it('a limit never allows more in any minute than twice what it says, and never refuses a caller that keeps to it', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 50 }),
      fc.array(fc.integer({ min: 0, max: 5_000 }), { maxLength: 200 }),
      (most, pauses) => {
        const clock = { now: 0 }
        const limit = createRateLimit(most, () => clock.now)
        const taken = pauses.flatMap((pause) => {
          clock.now += pause
          return limit.take('a') === 0 ? [clock.now] : []
        })
        for (const start of taken) {
          expect(taken.filter((at) => at >= start && at < start + 60_000).length).toBeLessThanOrEqual(2 * most)
        }
        clock.now += 120_000
        for (let n = 0; n < 5; n += 1) {
          expect(limit.take('a')).toBe(0)
          clock.now += Math.ceil(60_000 / most)
        }
      },
    ),
  )
})
