import type { RequestContext } from '../../contract/execution.ts'
import { createLru } from '../../lib/lru.ts'

/**
 * The callers whose requests are quick and those whose requests are slow, so that slow requests leave connections to the
 * others. A new caller is neither: an attacker has as many addresses as it likes, and an honest newcomer does not wait
 * behind callers who are known to be slow.
 */
export interface QuickCallers {
  readonly isQuick: (party: string) => boolean
  readonly isSlow: (party: string) => boolean
  /** Told how long a connection was held, in milliseconds. */
  readonly held: (context: RequestContext, ms: number) => void
  /** Whether somebody was quick of late. */
  readonly isWanted: () => boolean
}

/** Holding a connection for longer is slow. A read of one row takes less than 2 ms. */
const slowMs = 100

/** A quick request earns one; one that was slow, or given up, costs several. Debts are bounded as well. */
const mostCredit = 10
const price = 5

/** Beyond this many parties those that were not seen for long are forgotten, and begin again. */
const mostParties = 20_000

/** For so long after a quick request connections are kept for the next one. */
const recentMs = 1_000

/** @param now the monotonic clock, in milliseconds */
export function createQuickCallers(now: () => number): QuickCallers {
  const credits = createLru<string, number>(mostParties)
  let lastQuickAt = -Infinity
  return {
    isQuick: (party) => (credits.get(party) ?? 0) >= price,
    isSlow: (party) => (credits.get(party) ?? 0) < 0,
    held: ({ party, gone }, ms) => {
      const isQuick = ms <= slowMs && !gone
      if (isQuick) lastQuickAt = now()
      const before = credits.get(party) ?? 0
      const after = isQuick ? Math.min(mostCredit, before + 1) : Math.max(-price, before - price)
      if (after !== before) credits.set(party, after)
    },
    isWanted: () => now() - lastQuickAt < recentMs,
  }
}
