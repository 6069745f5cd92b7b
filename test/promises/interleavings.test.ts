import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { choices, drawFrom } from '../reference/questions/draw.ts'
import type { SettingTexts } from '../support/auth.ts'
import { drawPlan } from '../support/interleavings/steps.ts'
import { openTheatre, type Theatre } from '../support/interleavings/theatre.ts'
import { sized } from '../support/whole.ts'

/**
 * Promise: in whatever order the statements of several clients meet, on two processes of one database, no session ends
 * up with two live refresh tokens, no honest client loses its session, no code is spent twice, and what was ended stays
 * ended. Long form: npm run test:interleavings -- --count 10000 [--seed S] [--theatres N]; these repeat all choices.
 */
const count = Number(process.env['INTERLEAVINGS_COUNT'] ?? sized(90, 30))
const seed = Number(process.env['INTERLEAVINGS_SEED'] ?? Date.now() % 1_000_000)

/** Several at once, since each of them often waits for Postgres; --theatres N for more. */
const theatreCount = Number(process.env['INTERLEAVINGS_THEATRES'] ?? '3')
/** Where sessions have a limit, no refresh takes the short way of one statement. */
const settingsOf = (index: number): SettingTexts => (index % 3 === 2 ? { session_timebox: '86400' } : {})
/** Shrinking a failure must end, too. */
const longestMs = 60_000 + count * 2_000
const theatres: Theatre[] = []
beforeAll(async () => {
  for (let index = 0; index < theatreCount; index += 1) theatres.push(await openTheatre(settingsOf(index)))
}, 30_000 * theatreCount)
afterAll(async () => {
  for (const { close } of theatres) await close()
}, 30_000 * theatreCount)

const met = new Set<string>()
let [judged, statements] = [0, 0]

/** As many choices as a run may need: what clients do, and whose turn it is. */
const [plans, turns] = [choices(40).map((numbers) => drawPlan(drawFrom(numbers))), choices(160)]

const hold = (theatre: Theatre, index: number): Promise<void> =>
  fc.assert(
    fc.asyncProperty(plans, turns, async (plan, whose) => {
      const { problems, order, events, fingerprint } = await theatre.run(plan, whose)
      met.add(fingerprint)
      statements += order.length
      judged += 1
      if (judged % 500 === 0) console.log(`${judged} judged, ${met.size} of them different`)
      expect(problems, JSON.stringify({ plan, order, events }, null, 1)).toEqual([])
    }),
    {
      seed: seed + index,
      numRuns: Math.ceil(count / theatreCount),
      interruptAfterTimeLimit: longestMs,
      markInterruptAsFailure: true,
    },
  )

test(
  `interleavings of refresh, reuse, sign-out and verify (seed ${seed})`,
  { timeout: longestMs + 60_000 },
  async () => {
    const began = performance.now()
    await Promise.all(theatres.map(hold))
    for (const { deadlocks } of theatres) expect(await deadlocks()).toBe(0)
    const seconds = Math.round((performance.now() - began) / 1000)
    console.log(
      `${count} interleavings, ${met.size} of them different, of ${statements} turns, in ${seconds} s; seed ${seed}`,
    )
  },
)

/** Of three clients two may wait for one lock, and which of them gets it is for Postgres to choose. */
const ofTwo = fc.tuple(plans, turns).filter(([{ clients }]) => clients.length === 2)

/** A session that waits for a lock of Postgres is recognized by time, which a starved machine bends: hence another try. */
test('the same choices are the same interleaving again', { timeout: 60_000, retry: 3 }, async () => {
  for (const drawn of fc.sample(ofTwo, { seed, numRuns: 6 })) {
    const [first, again] = [await theatres[0]?.run(...drawn), await theatres[1]?.run(...drawn)]
    expect(again?.order).toEqual(first?.order)
  }
})
