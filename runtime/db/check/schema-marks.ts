import type { Query } from '../connect/session.ts'
import { counterExpression, markExpression } from './version.ts'

/**
 * A value of the mark, and the counter of schema changes that holds for as long as the mark keeps it: until then no
 * transaction can have committed a change that the counter does not know of. Its identity stands for both.
 */
export interface SchemaMark {
  readonly value: string
  readonly counter: string
}

export interface SchemaMarks {
  /** The newest one that is known; it may be outdated. */
  readonly newest: () => SchemaMark | null
  /** To be called after every request that was answered; looks at the database now and then, and never waits for it. */
  readonly refreshIfDue: () => void
  /** Drops what is known, until the database has been read again. */
  readonly invalidate: () => void
}

/** A value that was seen, and a transaction that began afterwards. */
interface Pending {
  readonly value: string
  readonly xid: string
}

/** A transaction that rolled back leaves a value of the mark that belongs to no counter. */
const refreshEveryMs = 1_000
const firstWaitMs = 10

const first = async <R extends object>(query: Query, text: string, values: readonly unknown[] = []): Promise<R> => {
  const { rows } = await query<R>(text, values)
  if (rows[0] === undefined) throw new Error('no row')
  return rows[0]
}

/**
 * The mark and, unless it is $1, a transaction that begins after it was read. A standby begins no transaction of its
 * own: its mark has no meaning.
 */
const readMark = `with mark as materialized (select ${markExpression} as value)
  select value::text as value, pg_catalog.pg_is_in_recovery() as replays,
    case when value::text <> $1 and not pg_catalog.pg_is_in_recovery() then pg_catalog.pg_current_xact_id() end::text as xid
  from mark`

interface MarkReading {
  readonly value: string | null
  readonly replays: boolean
  readonly xid: string | null
}

const readCounter = `select ${counterExpression} as counter,
  pg_catalog.pg_snapshot_xmin(pg_catalog.pg_current_snapshot()) >= $1::xid8 as past`

/**
 * Finds the counter that belongs to the schema mark. A transaction that changes the schema sets the mark before it
 * commits (compiler/following/prepare). Transactions that had set the mark when it was read had begun before a transaction that
 * begins after the reading; a snapshot without running transactions older than that one sees the outcome of all of them
 * (manual 9.26.8). A transaction that commits after that snapshot and had not set the mark before sets it again.
 * @param now the clock, in milliseconds
 */
export const createSchemaMarks = (query: Query, now: () => number): SchemaMarks => {
  let newest: SchemaMark | null = null
  let pending: Pending | null = null
  let running = false
  let due = 0
  let waitMs = firstWaitMs

  /** Returns in how many milliseconds to go on. */
  const step = async (): Promise<number> => {
    const { value, replays, xid } = await first<MarkReading>(query, readMark, [pending?.value ?? ''])
    if (value === newest?.value || value === null || replays) return refreshEveryMs
    if (xid !== null) {
      pending = { value, xid }
      waitMs = firstWaitMs
    }
    if (pending === null) return refreshEveryMs
    const { counter, past } = await first<{ counter: string; past: boolean }>(query, readCounter, [pending.xid])
    waitMs = Math.min(refreshEveryMs, waitMs * 2)
    if (!past) return waitMs
    newest = { value, counter }
    return refreshEveryMs
  }
  const run = async (): Promise<void> => {
    running = true
    // If this fails, requests compare the counter until the next attempt.
    const wait = await step().catch(() => refreshEveryMs)
    due = now() + wait
    running = false
  }
  return {
    newest: () => newest,
    refreshIfDue: () => {
      if (!running && now() >= due) void run()
    },
    invalidate: () => {
      newest = null
      due = 0
    },
  }
}
