import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { createAlarms, createRounds } from '../../../runtime/lib/timers.ts'

const inFakeTime = (work: () => void): void => {
  vi.useFakeTimers({ now: 0 })
  try {
    work()
  } finally {
    vi.useRealTimers()
  }
}

describe('alarms', () => {
  it('are called at their time, in order, unless they are called off', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(5_000), fc.boolean()), { maxLength: 300 }), (alarms) =>
        inFakeTime(() => {
          const setAlarm = createAlarms(Date.now)
          const due: number[] = []
          const cancels = alarms.map(([at]) =>
            setAlarm(at, () => {
              expect(Date.now()).toBeGreaterThanOrEqual(at)
              due.push(at)
            }),
          )
          for (const [index, [, isCalledOff]] of alarms.entries()) if (isCalledOff) cancels[index]?.()
          vi.advanceTimersByTime(6_000)
          const kept = alarms.filter(([, isCalledOff]) => !isCalledOff).map(([at]) => at)
          expect(due).toEqual(kept.sort((a, b) => a - b))
          expect(vi.getTimerCount()).toBe(0)
        }),
      ),
    )
  })

  it('may lie further ahead than a timer can', () => {
    inFakeTime(() => {
      const setAlarm = createAlarms(Date.now)
      let due = 0
      setAlarm(2 ** 33, () => (due += 1))
      vi.advanceTimersByTime(2 ** 33 - 1)
      expect(due).toBe(0)
      vi.advanceTimersByTime(1)
      expect(due).toBe(1)
    })
  })
})

describe('rounds', () => {
  it('give each a turn in each period, spread over it', () => {
    inFakeTime(() => {
      const join = createRounds(15_000)
      const turns = Array.from({ length: 300 }, () => 0)
      const leaves = turns.map((_, index) => join(() => (turns[index] = (turns[index] ?? 0) + 1)))
      vi.advanceTimersByTime(7_500)
      expect(turns.reduce((a, b) => a + b)).toBe(150)
      vi.advanceTimersByTime(22_500)
      expect(new Set(turns)).toEqual(new Set([2]))
      for (const leave of leaves) leave()
      expect(vi.getTimerCount()).toBe(0)
    })
  })
})
