import { statement, type RunStatement } from '../../db/pool/statements.ts'
import { defineTest } from './define.ts'
import { instanceId } from './users.ts'

/** Raising a session to aal2 (spec/auth.md 5.7). */

/** Waits for other transactions that hold the session; false if it has ended. Lock the user first. */
export const lockSessionOf = defineTest<[userId: string, sessionId: string]>(
  'auth.step-up.lock',
  'select id from auth.sessions where user_id = $1 and id = $2 for update',
)

/**
 * The time is read under the session's lock: a refresh that began later but was served before is older than the upgrade
 * by it, so that none of its tokens counts for the higher level (spec/auth.md, attack 14).
 */
const raise = statement<object>(
  'auth.step-up.raise',
  `with at as materialized (select clock_timestamp() as time),
  raised as (
    update auth.sessions set aal = 'aal2', factor_id = $2, updated_at = at.time from at where id = $1::uuid
  ), method as (
    insert into auth.mfa_amr_claims (id, session_id, created_at, updated_at, authentication_method)
    select gen_random_uuid(), $1::uuid, at.time, at.time, 'totp' from at
    on conflict (session_id, authentication_method) do update set updated_at = excluded.updated_at
  ), spent as (
    update auth.refresh_tokens set revoked = true, updated_at = at.time from at
    where session_id = $1::uuid and revoked is not true
  )
  insert into auth.refresh_tokens (instance_id, token, user_id, revoked, created_at, updated_at, session_id)
  select '${instanceId}', $4, $3::uuid::text, false, at.time, at.time, $1::uuid from at`,
)

const endLower = statement<object>(
  'auth.step-up.end-lower',
  `delete from auth.sessions where user_id = $1 and id <> $2 and coalesce(aal, 'aal1') = 'aal1'`,
)

export interface Raised {
  readonly userId: string
  readonly sessionId: string
  readonly factorId: string
  /** Replaces every earlier token, which have no successor. */
  readonly refreshToken: string
}

/** Raises a session whose row the caller holds, and ends the user's sessions that are still below. */
export const raiseSession = async (
  run: RunStatement,
  { userId, sessionId, factorId, refreshToken }: Raised,
): Promise<void> =>
  void (await Promise.all([
    run(raise, [sessionId, factorId, userId, refreshToken]),
    run(endLower, [userId, sessionId]),
  ]))
