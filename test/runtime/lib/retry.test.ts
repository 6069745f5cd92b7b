import fc from 'fast-check'
import { expect, test } from 'vitest'
import { pauseMs, retry, type RetryPolicy } from '../../../runtime/lib/retry.ts'

const atOnce = (attempts: number): RetryPolicy => ({ attempts, firstMs: 0, longestMs: 0 })

/** Work that fails so often before it succeeds. */
const failing = (times: number) => {
  let calls = 0
  return {
    calls: () => calls,
    work: async (): Promise<number> => {
      calls += 1
      if (calls <= times) throw new Error(`failure ${calls}`)
      return calls
    },
  }
}

test('a retry succeeds with the first attempt that does, or fails with the last that is allowed', async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(6), fc.integer({ min: 1, max: 6 }), async (failures, attempts) => {
      const { work, calls } = failing(failures)
      const [result] = await Promise.allSettled([retry(atOnce(attempts), work, () => true)])
      if (failures < attempts) expect(result).toEqual({ status: 'fulfilled', value: failures + 1 })
      else expect(result).toMatchObject({ status: 'rejected', reason: { message: `failure ${attempts}` } })
      expect(calls()).toBe(Math.min(failures + 1, attempts))
    }),
  )
})

test('a failure that does not deserve another attempt ends it', async () => {
  const { work, calls } = failing(5)
  const deserves = (error: unknown): boolean => error instanceof Error && error.message !== 'failure 2'
  await expect(retry(atOnce(5), work, deserves)).rejects.toThrow('failure 2')
  expect(calls()).toBe(2)
})

test('a signal ends the waiting', async () => {
  const stopping = new AbortController()
  const { work } = failing(Infinity)
  const policy: RetryPolicy = { attempts: Infinity, firstMs: 60_000, longestMs: 60_000 }
  const waiting = retry(policy, work, () => true, stopping.signal)
  setTimeout(() => stopping.abort(), 20)
  await expect(waiting).rejects.toThrow()
})

test('the pauses get longer up to the longest', () => {
  const policy: RetryPolicy = { attempts: Infinity, firstMs: 100, longestMs: 1_000 }
  expect([1, 2, 3, 4, 5, 60].map((attempt) => pauseMs(policy, attempt))).toEqual([100, 200, 400, 800, 1_000, 1_000])
})
