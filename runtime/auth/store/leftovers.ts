import { statement, type RunStatement } from '../../db/pool/statements.ts'
import type { SessionLimits } from '../rules/refresh.ts'

/** Rows that nothing needs any more (spec/auth.md 12). Guests are people: they are never deleted silently. */

const batch = 500

/** Old enough for everybody who may still ask about it. */
const old = `now() - interval '24 hours'`

/** $1 and $2: seconds after which a session ends by its age and by its rest, or null. */
const sessionsOver = `select ctid from auth.sessions
  where not_after < ${old}
    or created_at < ${old} - $1::float8 * interval '1 second'
    or coalesce(refreshed_at at time zone 'utc', created_at) < ${old} - $2::float8 * interval '1 second'`

/** What the parent of the live token gives has no limit of time (spec/auth.md 7, step 2): it stays. */
const tokensOver = `select t.ctid from auth.refresh_tokens t
  where t.revoked and t.updated_at < ${old} and not exists (
    select from auth.refresh_tokens l where l.parent = t.token and l.revoked is not true)`

const over: Readonly<Record<string, string>> = {
  'auth.refresh_tokens': tokensOver,
  'auth.flow_state': `select ctid from auth.flow_state where created_at < ${old}`,
  'auth.mfa_challenges': `select ctid from auth.mfa_challenges where created_at < ${old}`,
  'auth.mfa_factors': `select ctid from auth.mfa_factors where status = 'unverified' and created_at < ${old}`,
  'catalograph_auth.cooldowns': `select ctid from catalograph_auth.cooldowns where sent_at < ${old}`,
  'catalograph_auth.throttles': `select ctid from catalograph_auth.throttles where updated_at < ${old}`,
  'catalograph_auth.guest_windows': `select ctid from catalograph_auth.guest_windows where updated_at < ${old}`,
  'catalograph_auth.bans': `select ctid from catalograph_auth.bans
    where window_began < ${old} and coalesce(banned_until < ${old}, true)`,
  'catalograph_auth.mail_requests': `select ctid from catalograph_auth.mail_requests where created_at < ${old}`,
  'catalograph_auth.accepted_mails': `select ctid from catalograph_auth.accepted_mails where accepted_at < ${old}`,
}

/** A locked row is in use: it is skipped until the next time, without waiting. */
const deleteBatch = (table: string, which: string) =>
  statement<{ readonly count: number }>(
    `auth.leftovers.${table}`,
    `with gone as (
      delete from ${table} where ctid = any (array(${which} limit ${batch} for update skip locked)) returning 1
    )
    select count(*)::int as count from gone`,
  )

const sessions = deleteBatch('auth.sessions', sessionsOver)
const others = Object.entries(over).map(([table, which]) => deleteBatch(table, which))

/** Deletes at most a few hundred rows of each table; true when there may be more. */
export async function deleteLeftovers(
  run: RunStatement,
  limits: Pick<SessionLimits, 'session_timebox' | 'session_inactivity'>,
): Promise<boolean> {
  const counts = [(await run(sessions, [limits.session_timebox, limits.session_inactivity]))[0]?.count ?? 0]
  for (const one of others) counts.push((await run(one))[0]?.count ?? 0)
  return counts.some((count) => count === batch)
}
