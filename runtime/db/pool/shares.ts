import type { RequestContext } from '../../contract/execution.ts'
import { createLru } from '../../lib/caches.ts'

/**
 * How connections are shared, so that no party can hold all of them: a party (a signed-in user, or the address of a
 * stranger) holds at most all but two, strangers together at most all but one. While some callers are quick, slow ones
 * together hold half, and all that are not quick all but two. The service_role key has connections beyond these.
 */
export interface Shares {
  /** Connections that are open at most. */
  readonly max: number
  readonly mayAcquire: (context: RequestContext | undefined) => boolean
  /** Counts a connection as held by a request's party, until the lease ends. */
  readonly acquire: (context: RequestContext | undefined) => Lease
  /** Connections that a party holds. */
  readonly heldBy: (party: string) => number
  /** Milliseconds after which a refused party may be allowed without a returned connection; null: never. */
  readonly recheckMs: number | null
}

/** The speed of a caller's requests; unknown for a new caller. */
type Pace = 'quick' | 'unknown' | 'slow'

/** To be called once, when the connection is free again. */
export type Lease = () => void

/** A smaller pool is not shared: each party may hold all of it. */
export const smallestShared = 4

/** Connections for service_role and our own statements only. */
const reserved = 2

const leftByParty = 2
const leftByStrangers = 1
const leftByUnquick = 2

/** Parties that hold nothing and have an entry: theirs need not be made again with their next request. */
const mostRemembered = 100

/** How often it is looked whether what is kept for quick callers is still wanted. */
const recheckMs = 250

export const noLease: Lease = () => undefined

/** For a pool of one user: everything may be taken. */
export const unshared = (size: number): Shares => ({
  max: size,
  mayAcquire: () => true,
  acquire: () => noLease,
  heldBy: () => 0,
  recheckMs: null,
})

export function createShares(size: number, now: () => number = performance.now.bind(performance)): Shares {
  if (size < smallestShared) return unshared(size)
  const quickCallers = createQuickCallers(now)
  const most = { slow: Math.floor(size / 2), unquick: size - leftByUnquick }
  const held = new Map<string, number>()
  let strangers = 0
  let everybody = 0
  /** Held by callers who were not quick when they took it, and by those among them who were slow. */
  const heldNow = { slow: 0, unquick: 0 }
  const count = ({ party, kind }: RequestContext, pace: Pace, by: 1 | -1): void => {
    const sum = (held.get(party) ?? 0) + by
    if (sum === 0 && held.size > mostRemembered) held.delete(party)
    else held.set(party, sum)
    if (kind === 'stranger') strangers += by
    if (kind !== 'service') everybody += by
    if (pace !== 'quick') heldNow.unquick += by
    if (pace === 'slow') heldNow.slow += by
  }
  const paceOf = ({ party, kind }: RequestContext): Pace => (kind === 'service' ? 'quick' : quickCallers.paceOf(party))
  return {
    max: size + reserved,
    mayAcquire: (context) => {
      if (context === undefined) return true
      const { party, kind } = context
      const holds = held.get(party) ?? 0
      if (kind === 'service') return holds < size
      if (everybody >= size || holds >= size - leftByParty) return false
      const pace = paceOf(context)
      const isKept = heldNow.unquick >= most.unquick || (pace === 'slow' && heldNow.slow >= most.slow)
      if (pace !== 'quick' && isKept && quickCallers.isWanted()) return false
      return kind === 'member' || strangers < size - leftByStrangers
    },
    acquire: (context) => {
      if (context === undefined) return noLease
      const pace = paceOf(context)
      const since = now()
      count(context, pace, 1)
      return () => {
        count(context, pace, -1)
        if (context.kind !== 'service') quickCallers.held(context, now() - since)
      }
    },
    heldBy: (party) => held.get(party) ?? 0,
    recheckMs,
  }
}

/**
 * The callers whose requests are quick and those whose requests are slow, so that slow requests leave connections to the
 * others. A new caller is neither: an attacker has as many addresses as it likes, and an honest newcomer does not wait
 * behind callers who are known to be slow.
 */
interface QuickCallers {
  readonly paceOf: (party: string) => Pace
  /** Receives how long a connection was held, in milliseconds. */
  readonly held: (context: RequestContext, ms: number) => void
  /** Whether a request was quick recently. */
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
function createQuickCallers(now: () => number): QuickCallers {
  const credits = createLru<string, number>(mostParties)
  let lastQuickAt = -Infinity
  return {
    paceOf: (party) => {
      const credit = credits.get(party) ?? 0
      return credit >= price ? 'quick' : credit < 0 ? 'slow' : 'unknown'
    },
    held: ({ party, aborted }, ms) => {
      const isQuick = ms <= slowMs && !aborted
      if (isQuick) lastQuickAt = now()
      const before = credits.get(party) ?? 0
      const after = isQuick ? Math.min(mostCredit, before + 1) : Math.max(-price, before - price)
      if (after !== before) credits.set(party, after)
    },
    isWanted: () => now() - lastQuickAt < recentMs,
  }
}
