import type { RequestContext } from '../../contract/execution.ts'
import { createQuickCallers } from './quick-callers.ts'

/**
 * How connections are shared, so that no party can hold all of them: a party (a signed-in user, or the address of a
 * stranger) holds at most all but two, strangers together at most all but one. While some callers are quick, slow ones
 * together hold half, and all that are not quick all but two. The service_role key has connections beyond these.
 */
export interface Shares {
  /** Connections that are open at most. */
  readonly max: number
  readonly mayTake: (context: RequestContext | undefined) => boolean
  /** Counts a connection as held by a request's party, until the lease ends. */
  readonly take: (context: RequestContext | undefined) => Lease
  /** Connections that a party holds. */
  readonly heldBy: (party: string) => number
  /** Milliseconds after which a refused party may be allowed without a returned connection; null: never. */
  readonly recheckMs: number | null
}

/** What is known of a caller's requests; nothing of a new caller's. */
type Pace = 'quick' | 'unknown' | 'slow'

/** To be called once, when the connection is free again. */
export type Lease = () => void

/** Below this there is too little to share: everybody may hold everything. */
export const smallestShared = 4

/** What only service_role and our own statements may take. */
const reserved = 2

const leftByParty = 2
const leftByStrangers = 1
const leftByUnquick = 2

/** Parties that hold nothing and have an entry: theirs need not be made anew with their next request. */
const mostRemembered = 100

/** How often it is looked whether what is kept for quick callers is still wanted. */
const recheckMs = 250

export const noLease: Lease = () => undefined

/** For a pool of one user: everything may be taken. */
export const unshared = (size: number): Shares => ({
  max: size,
  mayTake: () => true,
  take: () => noLease,
  heldBy: () => 0,
  recheckMs: null,
})

export function createShares(size: number, now: () => number = () => performance.now()): Shares {
  if (size < smallestShared) return unshared(size)
  const quickCallers = createQuickCallers(now)
  const most = { slow: Math.floor(size / 2), unquick: size - leftByUnquick }
  const held = new Map<string, number>()
  const heldBy = (party: string): number => held.get(party) ?? 0
  let strangers = 0
  let everybody = 0
  /** Held by callers who were not quick when they took it, and by those among them who were slow. */
  const heldNow = { slow: 0, unquick: 0 }
  const count = ({ party, kind }: RequestContext, pace: Pace, by: 1 | -1): void => {
    const sum = heldBy(party) + by
    if (sum === 0 && held.size > mostRemembered) held.delete(party)
    else held.set(party, sum)
    if (kind === 'stranger') strangers += by
    if (kind !== 'service') everybody += by
    if (pace !== 'quick') heldNow.unquick += by
    if (pace === 'slow') heldNow.slow += by
  }
  const paceOf = ({ party, kind }: RequestContext): Pace => {
    if (kind === 'service' || quickCallers.isQuick(party)) return 'quick'
    return quickCallers.isSlow(party) ? 'slow' : 'unknown'
  }
  const isKept = (pace: Pace): boolean =>
    pace !== 'quick' && (heldNow.unquick >= most.unquick || (pace === 'slow' && heldNow.slow >= most.slow))
  return {
    max: size + reserved,
    mayTake: (context) => {
      if (context === undefined) return true
      const { party, kind } = context
      if (kind === 'service') return heldBy(party) < size
      if (everybody >= size || heldBy(party) >= size - leftByParty) return false
      if (isKept(paceOf(context)) && quickCallers.isWanted()) return false
      return kind === 'member' || strangers < size - leftByStrangers
    },
    take: (context) => {
      if (context === undefined) return noLease
      const pace = paceOf(context)
      const since = now()
      count(context, pace, 1)
      return () => {
        count(context, pace, -1)
        if (context.kind !== 'service') quickCallers.held(context, now() - since)
      }
    },
    heldBy,
    recheckMs,
  }
}
