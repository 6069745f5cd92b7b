import { describe, expect, it } from 'vitest'
import { isTooSlow, measureWriting, type Writing } from '../../../runtime/http/writing.ts'

const pace = { withinMs: 10_000, slowest: 1_000 }

/** Looks every half second at a reader of a large answer who takes so much each time; gives when it is too slow. */
const endOf = (takes: (ms: number) => number): number | null => {
  let writing: Writing | null = null
  let left = 10_000_000
  const written = left
  for (let now = 0; now < 100_000; now += 500) {
    writing = measureWriting({ bytesWritten: written, writableLength: left }, writing, now)
    if (writing === null) return null
    if (isTooSlow(writing, pace, now)) return now
    left = Math.max(0, left - takes(now))
  }
  return Infinity
}

describe('a reader', () => {
  it('that takes all is not watched', () => {
    expect(measureWriting({ bytesWritten: 5, writableLength: 0 }, null, 0)).toBeNull()
  })
  it('that takes nothing is too slow when its time is over', () => {
    expect(endOf(() => 0)).toBe(10_000)
  })
  it('that stops is too slow so long after it did', () => {
    expect(endOf((now) => (now < 20_000 ? 50_000 : 0))).toBe(30_000)
  })
  it('that takes a little now and then is too slow by its rate', () => {
    expect(endOf((now) => (now % 5_000 === 0 ? 100 : 0))).toBe(10_000)
  })
  it('that takes it at a fair rate gets all of it', () => {
    expect(endOf(() => 600)).toBe(Infinity)
    expect(endOf(() => 100_000)).toBeNull()
  })
})
