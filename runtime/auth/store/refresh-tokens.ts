import { defineAction, asJson, sessionColumns, signedColumns, userColumns, defineLookup, defineTest } from './define.ts'
import { statement, type RunStatement } from '../../db/pool/statements.ts'
import type { SessionRow, SignedSession, UserRow } from '../protocol/records.ts'
import type { RefreshFacts, SessionAge } from '../rules/refresh.ts'
import { auditedIn } from './audit-log.ts'
import { instanceId } from './users.ts'

/** catalograph_auth.refresh_marks: the known use of a session's refresh tokens (spec/auth.md 7). */

/** The mark of a token in a column or parameter, as in access tokens (spec/auth.md 3.5). */
const markIn = (token: string): string => `left(encode(sha256(convert_to(${token}, 'UTF8')), 'hex'), 8)`

/** An access token of a refresh token is in use; one that is older than the live token changes nothing. */
export const noteUse = defineAction<[sessionId: string, mark: string]>(
  'auth.refresh-marks.use',
  `insert into catalograph_auth.refresh_marks as m (session_id, used)
  select t.session_id, $2::text from auth.refresh_tokens t
  where t.session_id = $1::uuid and t.revoked is not true and ${markIn('t.token')} = $2::text
  on conflict (session_id) do update set used = excluded.used where m.used is distinct from excluded.used`,
)

/** The live token of a session was issued once more, because the first answer may have been lost. */
export const noteHandedAgain = defineAction<[sessionId: string, token: string]>(
  'auth.refresh-marks.hand-again',
  `insert into catalograph_auth.refresh_marks (session_id, handed_again) values ($1, ${markIn('$2::text')})
  on conflict (session_id) do update set handed_again = excluded.handed_again`,
)

/** auth.refresh_tokens: at most one per session is not revoked. */

/** The common case: a live token of a session without limits, spent and replaced by one statement. */
export interface Rotated extends UserRow {
  readonly session: SignedSession
}

/**
 * The session's row is locked first, as everywhere, without waiting. The token is found live again under that lock
 * (manual 13.2.1: an UPDATE looks at the newest version of a row), so of two concurrent calls one finds nothing.
 */
const rotate = statement<{ readonly row: Rotated }>(
  'auth.refresh-tokens.rotate',
  `with held as materialized (
    select s.id as session_id, s.user_id as id, u.email from auth.refresh_tokens t
    join auth.sessions s on s.id = t.session_id join auth.users u on u.id = s.user_id
    where t.token = $1::text and (s.not_after is null or s.not_after > now())
      and u.deleted_at is null and coalesce(u.banned_until <= now(), true)
    for update of s skip locked
  ), spent as (
    update auth.refresh_tokens t set revoked = true, updated_at = now() from held
    where t.token = $1::text and t.session_id = held.session_id and t.revoked is not true
      and not exists (select from auth.mfa_amr_claims c where c.session_id = held.session_id
        and c.authentication_method = 'totp' and t.created_at < c.updated_at)
    returning t.token, t.user_id, t.session_id
  ), child as (
    insert into auth.refresh_tokens (instance_id, token, user_id, revoked, created_at, updated_at, parent, session_id)
    select '${instanceId}', $2, user_id, false, now(), now(), token, session_id from spent
    returning session_id
  ), refreshed as (
    update auth.sessions s
    set refreshed_at = now() at time zone 'utc', updated_at = now(), user_agent = $3, ip = $4::inet
    from child where s.id = child.session_id
    returning s.id
  ), ${auditedIn('token_refreshed', 'spent join held u using (session_id)', 'host($4::inet)')}
  ${asJson(`select ${userColumns},
    (select to_json(t) from (select ${signedColumns} from auth.sessions s where s.id = refreshed.id) t) as session
  from refreshed join held on held.session_id = refreshed.id join auth.users u on u.id = held.id`)}`,
)

const lockSession = defineTest<[id: string]>(
  'auth.refresh-tokens.lock-session',
  'select id from auth.sessions where id = $1 for update skip locked',
)

const sessionExists = defineTest<[id: string]>(
  'auth.refresh-tokens.session-exists',
  'select from auth.sessions where id = $1',
)

/** Everything that the decision needs, read under the session's lock. */
export interface LockedToken extends RefreshFacts, Omit<SessionAge, 'age'> {
  readonly session: SessionRow
  readonly user: UserRow
}

export interface ClientTraits {
  readonly userAgent: string | null
  readonly address: string | null
}

/** Spends a live token and inserts its child; null, without any effect, in other than the common case. */
export const rotateLiveToken = async (
  run: RunStatement,
  token: string,
  child: string,
  { userAgent, address }: ClientTraits,
): Promise<Rotated | null> => (await run(rotate, [token, child, userAgent, address]))[0]?.row ?? null

export const findSessionIdOf = defineLookup<
  { readonly session_id: string | null; readonly user_id: string | null },
  [token: string]
>('auth.refresh-tokens.session-id', 'select session_id, user_id from auth.refresh_tokens where token = $1')

export type SessionLock = 'locked' | 'busy' | 'gone'

/** Locks a session until the transaction ends, without waiting. */
export const tryLockSession = async (run: RunStatement, id: string): Promise<SessionLock> => {
  if (await lockSession(run, id)) return 'locked'
  return (await sessionExists(run, id)) ? 'busy' : 'gone'
}

export const readLockedToken = defineLookup<LockedToken, [token: string]>(
  'auth.refresh-tokens.read-locked',
  `select coalesce(t.revoked, false) as revoked,
    extract(epoch from clock_timestamp() - coalesce(t.updated_at, t.created_at))::float8 as "revokedSecondsAgo",
    exists (select from auth.mfa_amr_claims c where c.session_id = s.id
      and c.authentication_method = 'totp' and t.created_at < c.updated_at) as "beforeUpgrade",
    case when live.token is not null then json_build_object('token', live.token,
      'isChild', coalesce(live.parent = t.token, false),
      'isUsed', coalesce(m.used = ${markIn('live.token')}, false)) end as live,
    coalesce(m.handed_again = ${markIn('t.token')}, false)
      and m.used is distinct from ${markIn('t.token')} as unseen,
    (select to_json(x) from (select ${sessionColumns}) x) as session,
    extract(epoch from clock_timestamp() - coalesce(s.refreshed_at at time zone 'utc', s.created_at))::float8 as idle,
    coalesce(s.not_after <= now(), false) as past,
    exists (select from auth.sessions n where n.user_id = s.user_id and n.created_at > s.created_at) as "hasNewer",
    (select to_json(x) from (select ${userColumns} from auth.users u where u.id = s.user_id and u.deleted_at is null) x)
      as user
  from auth.refresh_tokens t
  join auth.sessions s on s.id = t.session_id
  left join catalograph_auth.refresh_marks m on m.session_id = s.id
  left join lateral (
    select l.token, l.parent from auth.refresh_tokens l
    where l.session_id = s.id and l.revoked is not true order by l.id desc limit 1
  ) live on true
  where t.token = $1`,
)

export const spendToken = defineTest<[token: string, child: string]>(
  'auth.refresh-tokens.spend',
  `with spent as (
    update auth.refresh_tokens t set revoked = true, updated_at = now()
    where t.token = $1::text and t.revoked is not true returning t.token, t.user_id, t.session_id
  )
  insert into auth.refresh_tokens (instance_id, token, user_id, revoked, created_at, updated_at, parent, session_id)
  select '${instanceId}', $2, user_id, false, now(), now(), token, session_id from spent
  returning id`,
)

export const touchSessionOf = defineAction<[id: string, client: ClientTraits]>(
  'auth.refresh-tokens.touch-session',
  `update auth.sessions set refreshed_at = now() at time zone 'utc', updated_at = now(), user_agent = $2, ip = $3::inet
  where id = $1`,
  (id, { userAgent, address }) => [id, userAgent, address],
)
