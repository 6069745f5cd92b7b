import type { RunExchange } from '../../contract/execution.ts'
import type { History } from './history.ts'
import type { ReplicaSight } from './look.ts'

/** Why a replica answers no requests. */
export type ReplicaFault =
  'not looked at yet' | 'away' | 'a primary' | 'of another database' | 'on another timeline' | 'late'

/** What a replica tells of itself. */
export interface ReplicaState {
  /** Null: it serves. */
  readonly fault: ReplicaFault | null
  /** By how many milliseconds it is behind the primary at most; Infinity: not known. */
  readonly lagMs: number
  /** How many requests it answers, and has answered. */
  readonly running: number
  readonly served: number
}

export interface Replica {
  readonly run: RunExchange
  readonly seen: (sight: ReplicaSight) => void
  readonly failed: () => void
  /** Nothing more is asked of it until it has been looked at again. */
  readonly rest: () => void
  /** Where it has replayed to; null: it has to be left alone. */
  readonly replayed: (now: number) => bigint | null
  readonly state: (now: number) => ReplicaState
}

/** @param longestMs how old its answers may be */
export function createReplica(run: RunExchange, history: History, longestMs: number): Replica {
  let sight: ReplicaSight | null = null
  let [isAway, isResting] = [false, false]
  let [running, served] = [0, 0]
  const lagMs = (now: number): number => (sight === null ? Infinity : now - history.freshAt(sight.lsn))
  const faultAt = (now: number): ReplicaFault | null => {
    const primary = history.newest()
    if (isAway) return 'away'
    if (sight === null || primary === null) return 'not looked at yet'
    if (!sight.replays) return 'a primary'
    if (sight.system !== primary.system) return 'of another database'
    if (sight.timeline !== primary.position.timeline) return 'on another timeline'
    return lagMs(now) > longestMs ? 'late' : null
  }
  return {
    run: async (exchange, context) => {
      running += 1
      served += 1
      try {
        return await run(exchange, context)
      } finally {
        running -= 1
      }
    },
    seen: (given) => {
      sight = given
      isAway = false
      isResting = false
    },
    failed: () => (isAway = true),
    rest: () => (isResting = true),
    replayed: (now) => (isResting || sight === null || faultAt(now) !== null ? null : sight.lsn),
    state: (now) => ({ fault: faultAt(now), lagMs: lagMs(now), running, served }),
  }
}
