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
import { createHistory, type History } from './history.ts'
import { readPrimaryStatus, readReplicaStatus, type PrimaryStatus } from './replication-status.ts'
import { createReplica, type Replica, type ReplicaState } from './replica.ts'
import { createWrites, type Writes } from './last-writes.ts'

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

/** The interval of probes of each server, and the silence after which it counts as away, in milliseconds. */
const pace = { pauseMs: () => 100, timeoutMs: 2_000 }

/** The replicas, and what is known of the primary's commits. */
interface ReplicaSet extends Pick<ReplicasParts, 'primary' | 'siblings'> {
  readonly replicas: readonly Replica[]
  readonly history: History
  readonly writes: Writes
  /** Requests that only read, by the server that answered. */
  readonly reads: { primary: number; replica: number }
  /** Asks the primary. */
  readonly positionNow: () => Promise<Position>
}

const now = (): number => performance.now()

/** Opens no connection, but looks at each server from now on. */
export function openReplicas({ primary, servers, longestMs, log, siblings }: ReplicasParts): Replicas {
  const history = createHistory(longestMs)
  const writes = createWrites(now())
  const asked = servers.map(({ run, query }) => ({ query, replica: createReplica(run, history, longestMs) }))
  const replicas = asked.map(({ replica }) => replica)
  const reads = { primary: 0, replica: 0 }
  const positionNow = together(async () => (await readPrimaryStatus(primary.query)).position)
  const set: ReplicaSet = { primary, replicas, history, writes, reads, positionNow, ...(siblings && { siblings }) }
  const primarySeen = (status: PrimaryStatus, at: number): void => {
    history.add(at, status)
    writes.seen(at, status.position)
  }
  const logFaults = createFaultLog(log)
  const endings = [
    watchServer({
      ...pace,
      probe: () => readPrimaryStatus(primary.query),
      onResult: primarySeen,
      onFailure: () => undefined,
    }),
    ...asked.map(({ query, replica }, index) =>
      watchReplica(query, replica, (reason) => logFaults(index + 1, replica.state(now()), reason)),
    ),
  ]
  siblings?.onWrite((write) => writes.note(write, now()))
  return {
    write: (exchange, context) => runWrite(set, exchange, context),
    read: (exchange, context) => runRead(set, exchange, context),
    wrote: (party) => wrote(set, party),
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

const watchReplica = (query: Query, replica: Replica, report: (reason: string | null) => void): (() => void) =>
  watchServer({
    ...pace,
    probe: () => readReplicaStatus(query),
    onResult: (status) => {
      replica.onStatus(status, now())
      report(null)
    },
    onFailure: (error) => {
      replica.onFailure()
      report(reasonOf(error))
    },
    onTimeout: () => replica.abandon(),
  })

async function runWrite(set: ReplicaSet, ...[exchange, context]: Parameters<RunExchange>): ReturnType<RunExchange> {
  if (exchange.readOnly || context === undefined) return set.primary.run(exchange, context)
  try {
    return await set.primary.run(exchange, context)
  } finally {
    // After a failure it may be unknown whether the write was committed, unless it was not sent.
    if (context.sent === true) context.position = laterPosition(context.position, await wrote(set, context.party))
  }
}

async function wrote({ positionNow, writes, siblings }: ReplicaSet, party: string | null): Promise<Position | null> {
  const position = await positionNow().catch(() => null)
  writes.note({ party, position }, now())
  await siblings?.shareWrite({ party, position })
  return position
}

async function runRead(set: ReplicaSet, ...[exchange, context]: Parameters<RunExchange>): ReturnType<RunExchange> {
  const { primary, reads } = set
  const replica = context === undefined || !exchange.readOnly ? null : choose(set, context)
  if (replica !== null && context !== undefined) {
    try {
      const rows = await replica.run(exchange, context)
      if (rows !== null) {
        reads.replica += 1
        return rows
      }
    } catch (error) {
      if (!(error instanceof DatabaseFailure) || final.has(error.kind)) throw error
      if (lasting.has(error.kind)) replica.suspend()
    }
  }
  reads.primary += 1
  return primary.run(exchange, context)
}

function choose({ writes, replicas, history }: ReplicaSet, context: RequestContext): Replica | null {
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

function createFaultLog(log: Log): (replica: number, state: ReplicaState, reason: string | null) => void {
  const known = new Map<number, ReplicaState['fault']>()
  return (replica, { fault }, reason) => {
    const before = known.get(replica) ?? null
    known.set(replica, fault)
    if (fault === before || fault === 'not checked at yet') return
    if (fault === null) log({ kind: 'replica-back', replica })
    else log({ kind: 'replica-out', replica, fault, reason })
  }
}
