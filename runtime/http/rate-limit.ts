import { createLru } from '../lib/caches.ts'

/**
 * The rate limit of a caller, in the memory of this process, so that a request writes nothing. Own code, because the
 * result must be synchronous: rate-limiter-flexible answers with promises, and counts in windows.
 */
export interface RateLimit {
  /** Milliseconds until the caller may ask again; 0: now, and this request is counted. */
  readonly take: (party: string) => number
  /** Counts requests of a caller that another process admitted. */
  readonly takenElsewhere: (party: string, count: number) => void
}

interface Bucket {
  tokens: number
  at: number
}

/** The number of callers that are remembered; after a minute without requests the bucket is full anyway. */
const mostParties = 100_000
const minuteMs = 60_000

/**
 * A bucket of as many requests as a minute allows, refilled steadily (token bucket).
 * @param perMinute requests of one caller
 * @param now the monotonic clock, in milliseconds
 */
export function createRateLimit(perMinute: number, now: () => number = () => performance.now()): RateLimit {
  const buckets = createLru<string, Bucket>(mostParties)
  const perMs = perMinute / minuteMs
  const filledNow = (party: string): Bucket => {
    const time = now()
    const bucket = buckets.get(party) ?? { tokens: perMinute, at: time }
    bucket.tokens = Math.min(perMinute, bucket.tokens + (time - bucket.at) * perMs)
    bucket.at = time
    buckets.set(party, bucket)
    return bucket
  }
  return {
    takenElsewhere: (party, count) => {
      const bucket = filledNow(party)
      bucket.tokens = Math.max(0, bucket.tokens - count)
    },
    take: (party) => {
      const bucket = filledNow(party)
      if (bucket.tokens < 1) return Math.ceil((1 - bucket.tokens) / perMs)
      bucket.tokens -= 1
      return 0
    },
  }
}
