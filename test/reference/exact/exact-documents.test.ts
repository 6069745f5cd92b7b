import { describe, expect, test } from 'vitest'
import { sized } from '../../support/whole.ts'
import { hunt, newTally, openedSetting, usualSetting } from './hunt.ts'

/**
 * Compiled SQL answers what the reference interpreter answers, for some seconds of documents on drawn catalogues. One seed, so that a
 * run here judges the change and not the draw; `npm run test:exact` searches for new failures for as long as one likes.
 */
const seed = Number(process.env['EXACT_SEED'] ?? '800000')
const again = `EXACT_SEED=${seed} npx vitest run --config test/vitest.config.ts test/reference/exact/exact-documents.test.ts`
const milliseconds = sized(32_000, 10_000)
/** Documents of the first world or two: a busy machine takes longer for as many. */
const fewest = 20

describe(`random documents of random roles (again: ${again})`, () => {
  test.each([
    ['on random catalogues', usualSetting],
    ['where every addition is on and everything granted', openedSetting],
  ])('are answered exactly %s', { timeout: 200_000 }, async (_where, setting) => {
    const end = Date.now() + milliseconds
    const tally = newTally()
    const isOver = (): boolean => Date.now() > end && tally.cases > fewest
    await hunt({ seed, documents: 60, isOver, setting }, tally)
    const told = tally.found.map(({ failing: { message, question } }) => [
      message,
      question?.document,
      question?.variables,
    ])
    expect(told).toEqual([])
    expect(tally.cases).toBeGreaterThan(fewest)
  })
})
