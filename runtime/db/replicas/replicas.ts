import {
  type RequestContext,
  type RunExchange,
  laterPosition,
  type NotedWrite,
  type Position,
} from '../../contract/execution.ts'
import type { Query } from '../connect/session.ts'
import { DatabaseFailure, type DatabaseFailureKind, reasonOf } from '../failures/failures.ts'
import type { Database } from '../pool/pool.ts'
import { watchServer } from '../../lib/retry.ts'
import type { Log } from '../../settings/log/events.ts'
import { createHistory } from './history.ts'
import { lookAtPrimary, lookAtReplica, type PrimarySight } from './look.ts'
import { createReplica, type Replica, type ReplicaState } from './replica.ts'
import { createWrites } from './last-writes.ts'

/**
 * Servers that replay the primary's commits and answer requests that only read. A request goes to a replica whose lag
 * is within the owner's limit and that has replayed the caller's writes, or else to the primary.
 */
export interface Replicas {
  /** Runs on the primary; afterwards every process that may answer the caller knows the position. */
  readonly write: RunExchange
  /** Runs on a usable replica, or else on the primary. */
  readonly read: RunExchange
  /**
   * Records a commit; resolves with its position once all siblings know it.
   * @param party the party whose reads must see it; null: all
   */
  readonly wrote: (party: string | null) => Promise<Position | null>
  readonly stats: () => ReplicasStats
  /** Cancels running requests and refuses waiting and new ones, like a database. */
  readonly stop: () => void
  readonly close: () => Promise<void>
}

export interface ReplicasStats {
  readonly replicas: readonly ReplicaState[]
  /** Counts of requests that only read, by the server that answered. */
  readonly reads: { readonly primary: number; readonly replica: number }
}

export interface ReplicasParts {
  readonly primary: { readonly run: RunExchange; readonly query: Query }
  readonly servers: readonly Pick<Database, 'run' | 'query' | 'stop' | 'close'>[]
  /** The maximum age of answers, in milliseconds. */
  readonly longestMs: number
  readonly log: Log
  /** Absent: this process is the only one. */
  readonly siblings?: {
    /** Resolves when every sibling has received it. */
    readonly shareWrite: (write: NotedWrite) => Promise<void>
    readonly onWrite: (hear: (write: NotedWrite) => void) => void
  }
}

/** Failures of a replica that the primary would repeat, or whose caller waits for no answer. */
const final: ReadonlySet<DatabaseFailureKind> = new Set([
  'too-large',
  'timeout',
  'overloaded',
  'deadline',
  'gone',
  'stopping',
])

/** Failures that last for a while. */
const lasting: ReadonlySet<DatabaseFailureKind> = new Set(['stale', 'unavailable', 'connections'])

/** The interval of questions to each server, and the silence after which it counts as away, in milliseconds. */
const pace = { pauseMs: () => 100, silentMs: 2_000 }

/** Opens no connection, but looks at each server from now on. */
export function openReplicas({ primary, servers, longestMs, log, siblings }: ReplicasParts): Replicas {
  const now = (): number => performance.now()
  const history = createHistory(longestMs)
  const writes = createWrites(now())
  const replicas = servers.map(({ run }) => createReplica(run, history, longestMs))
  const reads = { primary: 0, replica: 0 }
  const primarySeen = (sight: PrimarySight, at: number): void => {
    history.add(at, sight)
    writes.seen(at, sight.position)
  }
  const logFaults = createFaultLog(log)
  const endings = [
    watchServer({ ...pace, look: () => lookAtPrimary(primary.query), seen: primarySeen, failed: () => undefined }),
    ...servers.map(({ query }, index) => {
      const replica = replicas[index]
      const report = (reason: string | null): void => {
        if (replica !== undefined) logFaults(index + 1, replica.state(now()), reason)
      }
      return watchServer({
        ...pace,
        look: () => lookAtReplica(query),
        seen: (sight) => {
          replica?.seen(sight, now())
          report(null)
        },
        failed: (error) => {
          replica?.failed()
          report(reasonOf(error))
        },
        silent: () => replica?.abandon(),
      })
    }),
  ]

  const positionNow = together(async () => (await lookAtPrimary(primary.query)).position)
  siblings?.onWrite((write) => writes.note(write, now()))
  const wrote: Replicas['wrote'] = async (party) => {
    const position = await positionNow().catch(() => null)
    writes.note({ party, position }, now())
    await siblings?.shareWrite({ party, position })
    return position
  }

  const choose = (context: RequestContext): Replica | null => {
    const own = writes.of(context.party)
    if (own === 'unknown') return null
    const wanted = laterPosition(own, context.position)
    const at = now()
    const able = replicas.filter((replica) => {
      const replayed = replica.replayed(at)
      return replayed !== null && (wanted === null || history.contains(replayed, wanted))
    })
    return leastBusy(able, at)
  }
  const onPrimary: RunExchange = (exchange, context) => {
    reads.primary += 1
    return primary.run(exchange, context)
  }
  return {
    write: async (exchange, context) => {
      if (exchange.readOnly || context === undefined) return primary.run(exchange, context)
      try {
        return await primary.run(exchange, context)
      } finally {
        // After a failure it may be unknown whether the write was committed.
        context.position = laterPosition(context.position, await wrote(context.party))
      }
    },
    read: async (exchange, context) => {
      const replica = context === undefined || !exchange.readOnly ? null : choose(context)
      if (replica === null || context === undefined) return onPrimary(exchange, context)
      try {
        const rows = await replica.run(exchange, context)
        if (rows !== null) {
          reads.replica += 1
          return rows
        }
      } catch (error) {
        if (!(error instanceof DatabaseFailure) || final.has(error.kind)) throw error
        if (lasting.has(error.kind)) replica.rest()
      }
      return onPrimary(exchange, context)
    },
    wrote,
    stats: () => ({ replicas: replicas.map((replica) => replica.state(now())), reads: { ...reads } }),
    stop: () => {
      for (const { stop } of servers) stop()
    },
    close: async () => {
      for (const end of endings) end()
      await Promise.all(servers.map(({ close }) => close()))
    },
  }
}

/** Among equally busy replicas, the one that has served least. */
function leastBusy(replicas: readonly Replica[], now: number): Replica | null {
  const states = replicas.map((replica) => ({ replica, state: replica.state(now) }))
  states.sort((a, b) => a.state.running - b.state.running || a.state.served - b.state.served)
  return states[0]?.replica ?? null
}

/** A call during a running question shares the next one, which begins after the call. */
function together<T>(ask: () => Promise<T>): () => Promise<T> {
  let running: Promise<unknown> | null = null
  let next: Promise<T> | null = null
  const begin = async (after: Promise<unknown> | null): Promise<T> => {
    await after?.catch(() => undefined)
    next = null
    const asked = ask()
    running = asked
    return asked
  }
  return () => (next ??= begin(running))
}

/** Logs when a replica is left out, and when it is used again. */
function createFaultLog(log: Log): (replica: number, state: ReplicaState, reason: string | null) => void {
  const known = new Map<number, ReplicaState['fault']>()
  return (replica, { fault }, reason) => {
    const before = known.get(replica) ?? null
    known.set(replica, fault)
    if (fault === before || fault === 'not looked at yet') return
    if (fault === null) log({ kind: 'replica-back', replica })
    else log({ kind: 'replica-out', replica, fault, reason })
  }
}
