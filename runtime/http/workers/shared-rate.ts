import type { RateLimit } from '../rate-limit.ts'
import type { Siblings } from './siblings.ts'

/** The delay with which workers exchange their counts, in milliseconds. */
const spreadEveryMs = 100

/** A rate limit that includes the counts of every worker. */
export function shareRateLimit(
  limit: RateLimit,
  { spread, onSpread }: Pick<Siblings, 'spread' | 'onSpread'>,
): RateLimit {
  const taken = new Map<string, number>()
  let waiting: NodeJS.Timeout | null = null
  const send = (): void => {
    waiting = null
    spread(Object.fromEntries(taken))
    taken.clear()
  }
  onSpread((requests) => {
    for (const [party, count] of Object.entries(requests)) limit.takenElsewhere(party, count)
  })
  return {
    ...limit,
    take: (party) => {
      const ms = limit.take(party)
      if (ms > 0) return ms
      taken.set(party, (taken.get(party) ?? 0) + 1)
      waiting ??= setTimeout(send, spreadEveryMs).unref()
      return 0
    },
  }
}
