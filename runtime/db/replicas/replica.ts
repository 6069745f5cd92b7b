import type { Exchange, RequestContext, ResultRow, RunExchange } from '../../contract/execution.ts'
import type { History } from './history.ts'
import { endSecondPrimary, isSecondPrimary, nameStandbys, type ReplicaStatus } from './replication-status.ts'

/** Why a replica answers no requests. */
export type ReplicaFault =
  | 'not checked at yet'
  | 'away'
  | 'a primary'
  | 'a second primary'
  | 'of another database'
  | 'on another timeline'
  | 'late'

export interface ReplicaState {
  /** Null: it serves requests. */
  readonly fault: ReplicaFault | null
  /** The upper bound of its lag behind the primary in milliseconds; Infinity: unknown. */
  readonly lagMs: number
  /** The number of requests in progress, and of those answered. */
  readonly running: number
  readonly served: number
}

export interface Replica {
  /** Resolves with null if the replica was abandoned during the request. */
  readonly run: (exchange: Exchange, context: RequestContext) => Promise<readonly ResultRow[] | null>
  /** Ends its requests without waiting for a silent server. */
  readonly abandon: () => void
  /** @param now after the report */
  readonly onStatus: (status: ReplicaStatus, now: number) => void
  readonly onFailure: () => void
  /** Sends no request until its next probe. */
  readonly suspend: () => void
  /** The position that it has replayed; null: it must not be used. */
  readonly replayed: (now: number) => bigint | null
  readonly state: (now: number) => ReplicaState
}

/** The client of a request has disconnected, or the request is treated as if it had. */
const abort = (context: RequestContext): void => {
  context.aborted = true
  context.onAbort?.()
}

/** The request for one attempt: the attempt may end while the request goes on. */
const attemptOf = (context: RequestContext): RequestContext => {
  const own: RequestContext = { ...context, onAbort: null }
  context.onAbort = () => abort(own)
  return own
}

/** @param longestMs the maximum age of its answers */
export function createReplica(run: RunExchange, history: History, longestMs: number): Replica {
  let status: ReplicaStatus | null = null
  /** Since when it is not a replica: a server that reports itself as primary after that is a second one. */
  let primarySince = Infinity
  let [isAway, isSuspended] = [false, false]
  let [running, served] = [0, 0]
  const abandoning = new Set<() => void>()
  const lagMs = (now: number): number => (status === null ? Infinity : now - history.freshAt(status.lsn))
  const faultAt = (now: number): ReplicaFault | null => {
    const primary = history.newest()
    if (isAway) return 'away'
    if (status === null || primary === null) return 'not checked at yet'
    if (status.system !== primary.system) return 'of another database'
    if (!status.replays)
      return isSecondPrimary(primary, status) && history.newestAt() > primarySince ? 'a second primary' : 'a primary'
    if (status.timeline !== primary.position.timeline) return 'on another timeline'
    return lagMs(now) > longestMs ? 'late' : null
  }
  return {
    run: async (exchange, context) => {
      running += 1
      served += 1
      const own = attemptOf(context)
      let abandon = (): void => abort(own)
      const abandoned = new Promise<null>((resolve) => {
        abandon = () => {
          abort(own)
          resolve(null)
        }
      })
      abandoning.add(abandon)
      try {
        return await Promise.race([run(exchange, own), abandoned])
      } finally {
        running -= 1
        abandoning.delete(abandon)
      }
    },
    abandon: () => {
      for (const one of [...abandoning]) one()
    },
    onStatus: (given, now) => {
      if (given.replays) primarySince = Infinity
      else if (primarySince === Infinity) primarySince = now
      status = given
      isAway = false
      isSuspended = false
    },
    onFailure: () => (isAway = true),
    suspend: () => (isSuspended = true),
    replayed: (now) => (isSuspended || status === null || faultAt(now) !== null ? null : status.lsn),
    state: (now) => ({ fault: faultAt(now), lagMs: lagMs(now), running, served }),
  }
}

/**
 * The owner's action about replicas in a state worse than being left out; null: none. If every server is listed among
 * the replicas, one of them is the primary: only a list without any replaying server needs a change.
 */
export function faultOfReplicas(states: readonly Pick<ReplicaState, 'fault'>[]): string | null {
  const place = states.findIndex(({ fault }) => fault === 'a second primary')
  if (place !== -1) return `replica ${place + 1} of DATABASE_REPLICA_URLS is a second primary: ${endSecondPrimary}`
  const none = states.length > 0 && states.every(({ fault }) => fault === 'a primary')
  return none ? `DATABASE_REPLICA_URLS names the primary only, which answers everything: ${nameStandbys}` : null
}
