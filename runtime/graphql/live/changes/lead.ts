import { setTimeout as sleep } from 'node:timers/promises'
import { armedLock, leaderLock, leaderView } from '../../../db/check/live-locks.ts'
import { DatabaseFailure } from '../../../db/failures/failures.ts'
import type { Query } from '../../../db/connect/session.ts'
import type { FeedConnection } from './connection.ts'

/**
 * One process leads: it sleeps until a writer wakes it, reads in short cycles while there are changes, and notifies the
 * other processes. Writers notify only while it sleeps (engine.md 7).
 */

/** Milliseconds, except for the number of cycles. */
export interface LeadPace {
  /** Between two reads while there are changes. */
  readonly cycleMs: number
  /** The number of empty reads before the leader sleeps. */
  readonly quietCycles: number
}

/** The connection that leads, or waits to; its transaction has no snapshot, so that it holds up no vacuum. */
export interface LeaderElection {
  /** Leads from now on, unless another process does. */
  readonly tryToLead: () => Promise<boolean>
  readonly waitToLead: () => Promise<void>
  /** Resolves with true when writers notify; with false if it was cancelled. */
  readonly arm: () => Promise<boolean>
  readonly cancelArming: () => Promise<void>
  readonly disarm: () => Promise<void>
  /** Prevents Postgres from ending the connection as idle. */
  readonly keepAlive: () => Promise<void>
}

const lockNotAvailable = '55P03'
const queryCanceled = '57014'

const failedWith = (sqlstate: string) => (error: unknown) => {
  if (error instanceof DatabaseFailure && error.sqlstate === sqlstate) return false
  throw error
}

/** @param cancel ends the statement of a backend */
export const createLeaderElection = (
  { query, processId }: FeedConnection,
  cancel: (processId: number) => Promise<void>,
): LeaderElection => {
  let isArming = false
  const done = (): boolean => true
  const takeLead = `select pg_catalog.pg_advisory_lock(${leaderLock})`
  return {
    tryToLead: async () => {
      await query('begin; set local lock_timeout = 0')
      await query('savepoint election')
      const leads = await query(`lock table ${leaderView} in exclusive mode nowait`).then(
        done,
        failedWith(lockNotAvailable),
      )
      if (!leads) await query('rollback to savepoint election')
      else await query(takeLead)
      return leads
    },
    waitToLead: async () => {
      await query(`lock table ${leaderView} in exclusive mode`)
      await query(takeLead)
    },
    arm: async () => {
      isArming = true
      try {
        const isArmed = await query(`savepoint arm; select pg_catalog.pg_advisory_lock(${armedLock})`).then(
          done,
          failedWith(queryCanceled),
        )
        if (!isArmed) await query('rollback to savepoint arm; release savepoint arm')
        return isArmed
      } finally {
        isArming = false
      }
    },
    cancelArming: async () => {
      if (isArming) await cancel(processId)
    },
    disarm: async () => {
      await query(`select pg_catalog.pg_advisory_unlock(${armedLock}); release savepoint arm`)
    },
    keepAlive: async () => {
      if (!isArming) await query('select')
    },
  }
}

export interface Leading {
  readonly election: LeaderElection
  /** Reads once; resolves with whether there were changes. */
  readonly readOnce: () => Promise<boolean>
  /** Resolves at the next notification of a writer. */
  readonly nextWake: () => Promise<void>
  readonly pace: LeadPace
  readonly isOver: () => boolean
}

/** The pause after a read as a multiple of its duration, so that a busy server gets fewer reads. */
const pauseFactor = 7
const longestPauseMs = 40

/** Reads until a number of reads finds nothing. */
const stayAwake = async ({ readOnce, pace, isOver }: Leading): Promise<void> => {
  for (let quiet = 0; quiet < pace.quietCycles && !isOver();) {
    const began = performance.now()
    quiet = (await readOnce()) ? 0 : quiet + 1
    const restMs = Math.min(longestPauseMs, (performance.now() - began) * pauseFactor)
    if (quiet < pace.quietCycles) await sleep(Math.max(pace.cycleMs, restMs), undefined, { ref: false })
  }
}

/**
 * The lock may wait long for writers: a wake-up in between reads, and gives up. A cancellation that arrives before the
 * statement has no effect, so it is repeated.
 */
const armUnlessWoken = async (
  { election, readOnce, pace, isOver }: Leading,
  woken: Promise<void>,
): Promise<boolean> => {
  let isSettled = false
  const armed = election.arm().finally(() => (isSettled = true))
  // The first failure ends the lead; the other one is the same.
  armed.catch(() => undefined)
  await Promise.race([armed, woken])
  while (!isSettled && !isOver()) {
    await Promise.all([readOnce(), election.cancelArming()])
    await Promise.race([armed, sleep(pace.cycleMs, undefined, { ref: false })])
  }
  return armed
}

/** Rejects as its connections do; resolves when it is over. */
export const lead = async (leading: Leading): Promise<void> => {
  const { election, readOnce, nextWake, isOver } = leading
  while (!isOver()) {
    await stayAwake(leading)
    const woken = nextWake()
    const isArmed = await armUnlessWoken(leading, woken)
    // Writers that did not notify have ended by now, and are visible.
    if (isArmed && !(await readOnce())) await woken
    await Promise.all([readOnce(), ...(isArmed ? [election.disarm()] : [])])
  }
}

/** Informs the other processes that this one leads. */
export const announce = async (query: Query): Promise<void> => {
  await query('select catalograph.live_lead()')
}
