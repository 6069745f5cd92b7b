import type { Change, ChangeListener } from '../../../contract/live.ts'
import { foundChannel, wakeChannel } from '../../../db/check/live-locks.ts'
import { watchServer } from '../../../lib/retry.ts'
import type { FeedConnection, OpenFeedConnection } from './connection.ts'
import { announce, createLeaderElection, lead, type LeadPace, type LeaderElection } from './lead.ts'
import { createPruning } from './prune.ts'
import { readSnapshot, type ChangeReading } from './read-changes.ts'
import { createReader } from './reader.ts'
import { createGates, type Gates, type WatchedRelation } from './gates.ts'

/** Milliseconds, except for the number of cycles. */
export interface FeedPace extends LeadPace {
  /** The interval of comparisons without triggers: memberships and attributes of roles. Null: never. */
  readonly compareMs: number | null
  /** How long a change is kept. */
  readonly keepMs: number
  /** How long a relation without watches is still reported. */
  readonly lingerMs: number
}

/** The reports from connecting to the loss of a connection. */
export interface FeedSession {
  readonly gates: Gates
  /** Resolves when nothing is reported any more. */
  readonly ended: Promise<void>
  readonly end: () => void
}

/** The silence in milliseconds after which the server counts as unavailable. */
const timeoutMs = 10_000

export interface SessionParts {
  readonly open: OpenFeedConnection
  readonly listener: ChangeListener
  readonly pace: FeedPace
  readonly watched: () => Iterable<WatchedRelation>
}

/** A promise that is resolved from outside, repeatedly. */
const createSignal = (): { readonly next: () => Promise<void>; readonly give: () => void } => {
  let give = (): void => undefined
  let next = new Promise<void>((resolve) => (give = resolve))
  const renew = (): void => {
    give()
    next = new Promise<void>((resolve) => (give = resolve))
  }
  return { next: () => next, give: renew }
}

const changesOf = ({ rows }: ChangeReading, watched: Iterable<WatchedRelation>): readonly Change[] => {
  const all = [...watched]
  return rows.flatMap(({ root, values }) =>
    all.filter(({ roots }) => roots.has(root)).map(({ id }) => ({ relation: id, values })),
  )
}

/** Opens both connections. Rejects with the first failure. */
const openBoth = async (open: OpenFeedConnection): Promise<readonly [FeedConnection, FeedConnection]> => {
  const [one, other] = await Promise.allSettled([open(), open()])
  if (one.status === 'fulfilled' && other.status === 'fulfilled') return [one.value, other.value]
  if (one.status === 'fulfilled') one.value.end()
  if (other.status === 'fulfilled') other.value.end()
  throw one.status === 'rejected' ? one.reason : (other as PromiseRejectedResult).reason
}

/** Steps that run once, at the end of a session. */
interface Ending {
  readonly isOver: () => boolean
  readonly ended: Promise<void>
  readonly end: () => void
  /** Runs when it ends. */
  readonly then: (work: () => void) => void
}

const createEnding = (): Ending => {
  let isOver = false
  const works: (() => void)[] = []
  const then = (work: () => void): void => void works.push(work)
  return {
    isOver: () => isOver,
    ended: new Promise((resolve) => then(resolve)),
    end: () => {
      if (isOver) return
      isOver = true
      for (const work of works) work()
    },
    then,
  }
}

/** Any failure ends the session, and with it the lead; the feed opens a new session. */
const assemble = async (
  { listener, pace, watched }: SessionParts,
  [work, electionConnection]: readonly [FeedConnection, FeedConnection],
  ending: Ending,
): Promise<Gates> => {
  const { query } = work
  const { isOver, end } = ending
  const wake = createSignal()
  ending.then(wake.give)
  const election: LeaderElection = createLeaderElection(electionConnection, async (processId) => {
    await query('select pg_catalog.pg_cancel_backend($1)', [processId])
  })
  await query(`listen ${foundChannel}`)
  let isLeader = await election.tryToLead()
  if (isLeader) await announce(query)
  const first = await readSnapshot(query)

  const pruning = createPruning(query, pace.keepMs, end)
  ending.then(pruning.end)
  const gates = createGates({
    query,
    isOver,
    ended: (ids) => listener.changed(ids.map((relation) => ({ relation, values: new Map() }))),
    failed: end,
  })
  const reopen = (why: 'outage' | 'schema'): void => {
    gates.open([...watched()]).then(() => isOver() || listener.unsure(why), end)
  }
  const take = (reading: ChangeReading, isOtherRoles: boolean): boolean => {
    if (isOver()) return false
    const isFound = reading.rows.length > 0 || reading.schema || reading.leader
    if (isFound && isLeader) pruning.found(reading.snapshot)
    const changes = changesOf(reading, watched())
    if (changes.length > 0) listener.changed(changes)
    if (reading.missed || reading.leader) reopen('outage')
    else if (reading.schema) reopen('schema')
    else if (isOtherRoles) listener.unsure('schema')
    return isFound
  }
  const { readOnce, compare } = createReader({ query, first, notifies: () => isLeader, take })
  work.onNotice((channel) => {
    if (channel === wakeChannel) wake.give()
    else if (!isLeader) readOnce().catch(end)
  })
  const leadOn = async (): Promise<void> => {
    await query(`listen ${wakeChannel}`)
    pruning.found(first.snapshot)
    await lead({ election, readOnce, nextWake: wake.next, pace, isOver })
  }
  const takeOver = async (): Promise<void> => {
    await election.waitToLead()
    isLeader = true
    await announce(query)
    await leadOn()
  }
  ;(isLeader ? leadOn() : takeOver()).catch(end)
  const { compareMs } = pace
  if (compareMs !== null) {
    const probe = async (): Promise<void> => {
      await Promise.all([compare(), ...(isLeader ? [election.keepAlive()] : [])])
    }
    const pauseMs = (): number => compareMs
    ending.then(watchServer({ probe, onResult: () => undefined, onFailure: end, pauseMs, timeoutMs }))
  }
  return gates
}

/** Resolves when everything that commits from now on will be read. Rejects with DatabaseFailure, or with FeedFault. */
export const openFeedSession = async (parts: SessionParts): Promise<FeedSession> => {
  const connections = await openBoth(parts.open)
  const ending = createEnding()
  for (const connection of connections) {
    ending.then(connection.end)
    connection.ended.then(ending.end, ending.end)
  }
  try {
    return { gates: await assemble(parts, connections, ending), ended: ending.ended, end: ending.end }
  } catch (error) {
    ending.end()
    throw error
  }
}
