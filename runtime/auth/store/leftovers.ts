import { statement, type RunStatement } from '../../db/pool/statements.ts'
import type { SessionLimits } from '../rules/refresh.ts'
import type { ReadAuthState } from '../settings/store.ts'

/**
 * Unneeded rows (spec/auth.md 12). Guests are people: they are never deleted silently.
 *
 * Tables are scanned from end to end, some pages at a time: the work of one statement is bounded, however large the
 * table is and however few rows are over, and no table needs an index for it (PostgreSQL manual, 70.6, and TID range
 * scans).
 */
interface LeftoversWalk {
  /** Takes the next step of the scan; false at the end, and the next call begins again. */
  readonly tidy: (limits: Retention) => Promise<boolean>
}

/** Seconds after which a session ends by age and by inactivity, and after which log entries go; null: never. */
export interface Retention extends Pick<SessionLimits, 'session_timebox' | 'session_inactivity'> {
  readonly audit_retention: number | null
}

/** Pages of 8 kB: one step reads half a megabyte, some thousand rows. */
const pagesAtOnce = 64

/** Old enough for every reader. */
const old = `now() - interval '24 hours'`

const lastYear = `now() - interval '1 year'`

const isOlderBy = (time: string, parameter: string): string =>
  `${time} < ${old} - ${parameter}::float8 * interval '1 second'`

interface Walk {
  readonly table: string
  /** Condition on a row `t` that is unneeded; $2 and further are the `values`. */
  readonly over: string
  readonly values?: (retention: Retention) => readonly (number | null)[]
  /** True if no row of the table is ever unneeded. */
  readonly isKept?: (retention: Retention) => boolean
}

const datedBy = (table: string, time: string): Walk => ({ table, over: `t.${time} < ${old}` })

const walks: readonly Walk[] = [
  {
    table: 'auth.sessions',
    over: `t.not_after < ${old} or ${isOlderBy('t.created_at', '$2')}
      or ${isOlderBy(`coalesce(t.refreshed_at at time zone 'utc', t.created_at)`, '$3')}`,
    values: ({ session_timebox: age, session_inactivity: rest }) => [age, rest],
  },
  {
    // The parent of the live token has no expiry (spec/auth.md 7, step 2): it stays.
    table: 'auth.refresh_tokens',
    over: `t.revoked and t.updated_at < ${old} and not exists (
      select from auth.refresh_tokens l where l.parent = t.token and l.revoked is not true)`,
  },
  {
    table: 'auth.audit_log_entries',
    over: `t.created_at < now() - $2::float8 * interval '1 second'`,
    values: ({ audit_retention: age }) => [age],
    isKept: ({ audit_retention: age }) => age === null,
  },
  datedBy('auth.flow_state', 'created_at'),
  datedBy('auth.mfa_challenges', 'created_at'),
  { table: 'auth.mfa_factors', over: `t.status = 'unverified' and t.created_at < ${old}` },
  datedBy('catalograph_auth.cooldowns', 'sent_at'),
  datedBy('catalograph_auth.throttles', 'updated_at'),
  datedBy('catalograph_auth.guest_windows', 'updated_at'),
  { table: 'catalograph_auth.bans', over: `t.window_began < ${old} and coalesce(t.banned_until < ${old}, true)` },
  datedBy('catalograph_auth.mail_requests', 'created_at'),
  datedBy('catalograph_auth.used_id_tokens', 'expires_at'),
  datedBy('catalograph_auth.accepted_mails', 'accepted_at'),
  // Counts of known and unknown addresses expire alike, so that expiry reveals neither.
  {
    table: 'catalograph_auth.password_guesses',
    over: `t.last_at < case when (select reltuples from pg_catalog.pg_class
        where oid = 'catalograph_auth.password_guesses'::regclass) > 1e6 then ${old} else ${lastYear} end`,
  },
  ...['catalograph_auth.user_devices', 'catalograph_auth.factor_devices'].map((table) => ({
    table,
    over: `t.passed_at < ${lastYear}`,
  })),
]

const page = (number: string): string => `pg_catalog.format('(%s,0)', ${number})::tid`

/** $1: the first page. A locked row is in use: it is skipped until the next scan, without waiting. */
const stepOf = ({ table, over }: Walk) =>
  statement<{ readonly more: boolean }>(
    `auth.leftovers.${table}`,
    `with gone as (
      delete from ${table} where ctid = any (array(
        select t.ctid from ${table} t
        where t.ctid >= ${page('$1::bigint')} and t.ctid < ${page(`($1::bigint + ${pagesAtOnce})`)} and (${over})
        for update of t skip locked
      ))
    )
    select pg_catalog.pg_relation_size('${table}')
      > ($1::bigint + ${pagesAtOnce}) * pg_catalog.current_setting('block_size')::bigint as more`,
  )

const steps = walks.map((walk) => ({ ...walk, step: stepOf(walk) }))

/** @param run as the owner of the tables */
export function createLeftovers(run: RunStatement): LeftoversWalk {
  let [table, from] = [0, 0]
  const enter = (next: number): boolean => {
    ;[table, from] = [next % steps.length, 0]
    return table !== 0
  }
  return {
    tidy: async (retention) => {
      const walk = steps[table]
      if (walk === undefined || walk.isKept?.(retention) === true) return enter(table + 1)
      const [here, first] = [table, from]
      // After a failure, the next call continues with the next table.
      const goesOn = enter(table + 1)
      const [done] = await run(walk.step, [first, ...(walk.values?.(retention) ?? [])])
      if (done?.more !== true) return goesOn
      ;[table, from] = [here, first + pagesAtOnce]
      return true
    },
  }
}

/** Deletes unneeded rows in small steps (spec/auth.md 12). */
interface Housekeeping {
  /** Begins no more work; resolves when the current work has ended. */
  readonly stop: () => Promise<void>
}

const everyMs = 10 * 60_000
/** Between two steps, so that requests are not delayed. */
const pauseMs = 250

/** Begins in some minutes, at a different time in each process; a failed run is repeated the next time. */
export function startHousekeeping(run: RunStatement, state: ReadAuthState): Housekeeping {
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> = Promise.resolve()
  let stopped = false
  const leftovers = createLeftovers(run)
  const after = (ms: number): void => {
    if (stopped) return
    timer = setTimeout(() => {
      running = tidy().then(after)
    }, ms).unref()
  }
  /** Returns the milliseconds until the next time. */
  const tidy = async (): Promise<number> => {
    try {
      const now = await state()
      return now.kind === 'enabled' && (await leftovers.tidy(now.settings)) ? pauseMs : everyMs
    } catch {
      return everyMs
    }
  }
  after(everyMs * (0.5 + Math.random()))
  return {
    stop: async () => {
      stopped = true
      clearTimeout(timer)
      await running
    },
  }
}
