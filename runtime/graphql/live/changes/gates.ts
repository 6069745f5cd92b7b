import { setTimeout as sleep } from 'node:timers/promises'
import type { LiveRelation } from '../../../contract/live.ts'
import type { ObjectId } from '../../../contract/manifest.ts'
import type { Query } from '../../../db/connect/session.ts'
import { DatabaseFailure } from '../../../db/failures/failures.ts'
import { pauseMs, retries, retry } from '../../../lib/retry.ts'

export interface WatchedRelation {
  readonly id: ObjectId
  readonly relation: LiveRelation
  /** SQL names of the columns that pins need. */
  readonly columns: ReadonlySet<string>
  /** Oids of the root relations under which its changes are reported; empty: they are not. */
  roots: ReadonlySet<number>
}

export interface Gates {
  /**
   * Resolves when every write that begins from now on reports its change. `ended` reports those in progress. The roots
   * of each relation are known then.
   */
  readonly open: (watched: readonly WatchedRelation[]) => Promise<void>
  /** This process does not watch these roots any more. */
  readonly close: (roots: readonly number[]) => Promise<void>
}

interface GateParts {
  readonly query: Query
  readonly isOver: () => boolean
  /** Receives the relations of an ended transaction that may have changed them without a report. */
  readonly ended: (ids: readonly ObjectId[]) => void
  readonly failed: (error: unknown) => void
}

interface Opened {
  readonly item: number
  readonly roots: readonly number[] | null
  readonly holders: readonly string[]
}

const nobodyLeads = 'CG005'

const openText = `select item, pg_catalog.to_json(roots::int8[]) as roots, holders
  from catalograph.live_watch($1)`

/** Transactions that still run. */
const runningText = `select h.id from pg_catalog.unnest($1::text[]) h (id)
  where exists (select from pg_catalog.pg_locks l where l.locktype = 'virtualxid' and l.virtualxid = h.id)`

/** That no process leads yet, or that a migration holds a lock: a gate waits, and leaves the connection to others. */
const isEarly = (error: unknown): boolean =>
  error instanceof DatabaseFailure && (error.sqlstate === nobodyLeads || error.kind === 'locked')

export const createGates = ({ query, isOver, ended, failed }: GateParts): Gates => {
  const inTime: Query = (...asked) =>
    retry(
      retries.liveLeader,
      () => query(...asked),
      (error) => !isOver() && isEarly(error),
    )
  /** Transactions that may have written before a gate was open -> the relations. */
  const holders = new Map<string, Set<ObjectId>>()
  let isWaiting = false
  /** Only while there are any, in growing pauses. */
  const awaitHolders = async (): Promise<void> => {
    for (let attempt = 1; holders.size > 0 && !isOver(); attempt += 1) {
      await sleep(pauseMs(retries.liveHolders, attempt), undefined, { ref: false })
      // More may be added during the query, which says nothing about them.
      const asked = [...holders.keys()]
      const { rows } = await query<{ id: string }>(runningText, [asked])
      const running = new Set(rows.map(({ id }) => id))
      const gone = asked.filter((id) => !running.has(id))
      const ids = new Set(gone.flatMap((id) => [...(holders.get(id) ?? [])]))
      for (const id of gone) holders.delete(id)
      if (ids.size > 0 && !isOver()) ended([...ids])
    }
    isWaiting = false
  }
  const hold = ({ id }: WatchedRelation, transactions: readonly string[]): void => {
    for (const transaction of transactions) holders.set(transaction, (holders.get(transaction) ?? new Set()).add(id))
    if (holders.size === 0 || isWaiting) return
    isWaiting = true
    awaitHolders().catch(failed)
  }
  return {
    open: async (watched) => {
      if (watched.length === 0) return
      const wanted = JSON.stringify(watched.map(({ relation, columns }) => ({ ...relation, columns: [...columns] })))
      const { rows } = await inTime<Opened>(openText, [wanted])
      for (const { item, roots, holders: transactions } of rows) {
        const one = watched[item - 1]
        if (one === undefined) continue
        one.roots = new Set(roots)
        hold(one, transactions)
      }
    },
    close: async (roots) => {
      await inTime('select catalograph.live_unwatch($1)', [roots])
    },
  }
}
