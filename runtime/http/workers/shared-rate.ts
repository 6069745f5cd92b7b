import type { RateLimit } from '../rate-limit.ts'
import type { Siblings } from './siblings.ts'

/** How late one worker may know what another one counted, in milliseconds. */
const spreadEveryMs = 100

/** A rate limit that counts what every worker let through. */
export function shareRateLimit(
  limit: RateLimit,
  { spread, onSpread }: Pick<Siblings, 'spread' | 'onSpread'>,
): RateLimit {
  const taken = new Map<string, number>()
  let waiting: NodeJS.Timeout | null = null
  const tell = (): void => {
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
      waiting ??= setTimeout(tell, spreadEveryMs).unref()
      return 0
    },
  }
}
