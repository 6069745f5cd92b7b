import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  groupBy,
  groupInSteps,
  atOnce,
  createPace,
  inTurns,
  mapInSteps,
  type Steps,
} from '../../../runtime/lib/steps.ts'

function* sum(numbers: readonly number[]): Steps<number> {
  const doubled = yield* mapInSteps(numbers, (number) => number * 2)
  return doubled.reduce((total, number) => total + number, 0)
}

describe('steps', () => {
  it('come to the same at once and in turns, wherever others have theirs', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat()), fc.infiniteStream(fc.boolean()), async (numbers, due) => {
        let turns = 0
        const pace = {
          isDue: () => due.next().value,
          turn: async () => {
            turns += 1
          },
        }
        expect(await inTurns(sum(numbers), pace)).toBe(atOnce(sum(numbers)))
        expect(turns).toBeLessThanOrEqual(numbers.length)
      }),
    )
  })

  it('let others run once a slice of time is over, and not before', async () => {
    const seen: string[] = []
    let time = 0
    function* work(): Steps<void> {
      for (let step = 0; step < 5; step += 1) {
        seen.push(`step at ${time}`)
        time += 6
        yield
      }
    }
    const others = new Promise<void>((resolve) => setImmediate(() => resolve(void seen.push('others'))))
    await inTurns(
      work(),
      createPace(() => time),
    )
    await others
    expect(seen.slice(0, 4)).toEqual(['step at 0', 'step at 6', 'others', 'step at 12'])
  })

  it('end with what a step throws', async () => {
    const work = (): Steps<unknown> =>
      mapInSteps([1], () => {
        throw new Error('broken')
      })
    expect(() => atOnce(work())).toThrow('broken')
    await expect(inTurns(work())).rejects.toThrow('broken')
  })

  it('group as groupBy does', () => {
    const items = Array.from({ length: 1_000 }, (_, index) => index)
    const byDigit = (item: number): number => item % 10
    expect(atOnce(groupInSteps(items, byDigit))).toEqual(groupBy(items, byDigit))
    expect([...groupInSteps(items, byDigit)].length).toBeGreaterThan(1)
  })
})
