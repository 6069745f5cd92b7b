import type { AmrMethod, SessionRow } from '../protocol/records.ts'
import { auditedIn } from './audit-log.ts'
import { sessionColumns, defineAction, defineLookup, defineTest } from './define.ts'
import { instanceId } from './users.ts'
import { statement, type RunStatement } from '../../db/pool/statements.ts'

/** auth.sessions, with the refresh tokens and methods that end with it. */

interface NewSession {
  readonly id: string
  readonly userId: string
  readonly method: AmrMethod
  readonly provider: string
  readonly refreshToken: string
  readonly userAgent: string | null
  readonly address: string | null
  /** The mail of a reset began it. */
  readonly isRecovery: boolean
  /** The key that counts guesses of the user's address; null: none. */
  readonly addressHash: Buffer | null
  readonly device: Buffer
  /**
   * The hash of the compared password: the session begins only if the user still has it and is not banned. Null: the
   * caller holds the user's row.
   */
  readonly provedHash: string | null
}

/**
 * Begins a session at aal1 with its first refresh token, and records the user's last sign-in. Guesses of the password
 * begin at zero, and the device is known from now on (spec/auth.md 4.4); for a guest, who has no address, nothing is
 * stored. The user's row is locked by its update, which looks at the newest version (manual 13.2.1).
 */
export const insertSession = defineAction<[session: NewSession]>(
  'auth.sessions.insert',
  `with known as (
    update auth.users u set last_sign_in_at = now(), updated_at = now()
    where u.id = $2::uuid and ($10::text is null or u.encrypted_password = $10::text
      and u.deleted_at is null and coalesce(u.banned_until <= now(), true))
    returning u.id, u.email
  ), session as (
    insert into auth.sessions (id, user_id, created_at, updated_at, aal, user_agent, ip)
    select $1::uuid, id, now(), now(), 'aal1', $3, $4::text::inet from known returning id
  ), method as (
    insert into auth.mfa_amr_claims (id, session_id, created_at, updated_at, authentication_method)
    select gen_random_uuid(), id, now(), now(), $5 from session
  ), token as (
    insert into auth.refresh_tokens (instance_id, token, user_id, revoked, created_at, updated_at, session_id)
    select '${instanceId}', $6, $2::uuid::text, false, now(), now(), id from session
  ), recovery as (
    insert into catalograph_auth.recovery_sessions (session_id) select id from session where $7::boolean
  ), counts as (
    delete from catalograph_auth.password_guesses where address_hash = $8::bytea and exists (select from session)
  ), device as (
    insert into catalograph_auth.user_devices as d (user_id, device)
    select $2::uuid, $9::bytea from session where $8::bytea is not null
    on conflict (user_id, device) do update set passed_at = now() where d.passed_at < now() - interval '1 day'
  ), ${auditedIn('login', 'known u', '$4::text', `, 'traits', json_build_object('provider', $11::text)`)}
  select from session`,
  (session) => [
    session.id,
    session.userId,
    session.userAgent,
    session.address,
    session.method,
    session.refreshToken,
    session.isRecovery,
    session.addressHash,
    session.device,
    session.provedHash,
    session.provider,
  ],
)

export const findSession = defineLookup<SessionRow, [id: string]>(
  'auth.sessions.by-id',
  `select ${sessionColumns} from auth.sessions s where s.id = $1`,
)

/** Whether the mail of a reset began the session. After the exchange of a PKCE code the method itself shows it. */
export const isRecoverySession = defineTest<[id: string]>(
  'auth.sessions.recovery',
  `select from catalograph_auth.recovery_sessions where session_id = $1
  union all
  select from auth.mfa_amr_claims where session_id = $1 and authentication_method = 'recovery'`,
)

export const deleteSession = defineAction<[id: string]>(
  'auth.sessions.delete-one',
  'delete from auth.sessions where id = $1 returning id',
)

export const deleteSessionsOf = defineAction<[userId: string]>(
  'auth.sessions.delete-all',
  'delete from auth.sessions where user_id = $1',
)

/** `sessionId` null: the caller has none, so all of them are others. */
export const deleteOtherSessions = defineAction<[userId: string, sessionId: string | null]>(
  'auth.sessions.delete-others',
  'delete from auth.sessions where user_id = $1 and id is distinct from $2::uuid',
)

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

interface Raised {
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
