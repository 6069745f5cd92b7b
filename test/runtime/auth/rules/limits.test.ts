import fc from 'fast-check'
import { expect, it } from 'vitest'
import {
  countOne,
  isSpent,
  mustAsk,
  whenAnswered,
  whileAsking,
  type Bucket,
  type Tally,
} from '../../../../runtime/auth/rules/rate-limits.ts'

/** The row of a source in Postgres: see store/throttles.ts. */
const sharedBucket = ({ burst, perSecond }: Bucket) => {
  let [tokens, at] = [burst, 0]
  return (owed: number, now: number): { granted: boolean; left: number } => {
    tokens = Math.min(burst, tokens + ((now - at) / 1000) * perSecond)
    at = now
    const granted = tokens >= owed
    if (granted) tokens -= owed
    return { granted, left: tokens }
  }
}

/** One process that limits a source. `call` resolves when it is known whether the call may go on. */
const startProcess = (bucket: Bucket, unreported: number, take: ReturnType<typeof sharedBucket>) => {
  let tally: Tally | null = null
  const waiting: ((now: number) => boolean)[] = []
  return {
    /** True or false; null: the bucket is being asked. */
    call: (now: number): boolean | null => {
      const counted = countOne(tally, bucket, now)
      if (isSpent(counted)) return false
      tally = counted
      if (!mustAsk(counted, unreported)) return true
      tally = whileAsking(counted)
      waiting.push((later) => {
        const taken = take(counted.owed, later)
        tally = whenAnswered(tally, counted, taken, later)
        return taken.granted
      })
      return null
    },
    /** The bucket answers every request, the last one first. */
    answer: (now: number): readonly boolean[] =>
      waiting
        .splice(0)
        .reverse()
        .map((ask) => ask(now)),
  }
}

interface Event {
  readonly after: number
  readonly by: number
  /** The bucket takes its time: its answer comes with a later event. */
  readonly slow: boolean
}

const calls = fc.array(
  fc.record({ after: fc.oneof(fc.constant(0), fc.nat({ max: 4_000 })), by: fc.nat({ max: 2 }), slow: fc.boolean() }),
  { minLength: 1, maxLength: 300 },
)
const buckets = fc.record({
  burst: fc.integer({ min: 1, max: 40 }),
  perSecond: fc.double({ min: 0.01, max: 2, noNaN: true }),
})

/** How many calls pass, and how many the bucket holds for that time. */
const passed = (bucket: Bucket, unreported: number, processes: number, history: readonly Event[]) => {
  const take = sharedBucket(bucket)
  const all = Array.from({ length: processes }, () => startProcess(bucket, unreported, take))
  let [now, count] = [0, 0]
  const add = (results: readonly (boolean | null)[]): void => {
    count += results.filter((result) => result === true).length
  }
  for (const { after, by, slow } of history) {
    now += after
    const one = all[by % processes]
    if (one !== undefined) add([one.call(now)])
    if (!slow) for (const { answer } of all) add(answer(now))
  }
  for (const { answer } of all) add(answer(now))
  return { count, most: bucket.burst + (now / 1000) * bucket.perSecond }
}

it('however calls come and whichever process they reach, no more pass than the bucket holds', () => {
  fc.assert(
    fc.property(buckets, calls, (bucket, history) => {
      const { count, most } = passed(bucket, 0, 3, history)
      expect(count).toBeLessThanOrEqual(most + 1e-6)
    }),
  )
})

it('counting in each process lets at most so many more pass in each', () => {
  fc.assert(
    fc.property(buckets, calls, fc.integer({ min: 1, max: 3 }), (bucket, history, processes) => {
      const { count, most } = passed(bucket, 9, processes, history)
      expect(count).toBeLessThanOrEqual(most + processes * 9 + 1e-6)
    }),
  )
})

it('a caller no faster than the bucket fills is never refused', () => {
  fc.assert(
    fc.property(buckets, fc.nat({ max: 9 }), fc.integer({ min: 1, max: 200 }), (bucket, unreported, count) => {
      const pace = Math.ceil(1000 / bucket.perSecond) + 1
      const history = Array.from({ length: count }, () => ({ after: pace, by: 0, slow: false }))
      expect(passed(bucket, unreported, 1, history).count).toBe(count)
    }),
  )
})

it('a crowd that comes at once from one address gets all that the bucket holds', () => {
  fc.assert(
    fc.property(buckets, fc.nat({ max: 9 }), fc.integer({ min: 1, max: 3 }), (bucket, unreported, processes) => {
      const history = Array.from({ length: 200 }, (_, n) => ({ after: 0, by: n, slow: false }))
      expect(passed(bucket, unreported, processes, history).count).toBeGreaterThanOrEqual(bucket.burst)
    }),
  )
})

it('in one process whose calls come one after the other none too many passes', () => {
  fc.assert(
    fc.property(buckets, calls, fc.nat({ max: 9 }), (bucket, history, unreported) => {
      const orderly = history.map((event) => ({ ...event, slow: false }))
      const { count, most } = passed(bucket, unreported, 1, orderly)
      expect(count).toBeLessThanOrEqual(most + 1e-6)
    }),
  )
})
