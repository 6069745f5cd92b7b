import { buffer } from 'node:stream/consumers'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { LongBody, streamOf } from '../../../runtime/http/bodies.ts'

it('a long body has the same bytes in pieces as it has as a whole, and is as long as it says', async () => {
  const text = fc
    .tuple(fc.string({ unit: fc.constantFrom('x', 'ä', '漢', '🏕️', '\ud83c') }), fc.integer({ min: 1, max: 40_000 }))
    .map(([unit, times]) => unit.repeat(times).slice(0, 200_000))
  const part = fc.oneof(
    text,
    text.map((one) => Buffer.from(one)),
    fc.string(),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(part, { maxLength: 6 }), async (parts) => {
      const body = new LongBody(parts)
      const whole = Buffer.concat(parts.map((one) => Buffer.from(one as string)))
      expect(body.bytes).toBe(whole.length)
      expect((await buffer(streamOf(body))).equals(whole)).toBe(true)
    }),
    { numRuns: 60 },
  )
})
