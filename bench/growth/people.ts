import type { Query } from '../auth/people.ts'

/**
 * The rows of auth after years of use, inserted by SQL: a user has an address, a password and an identity, one and a
 * half sessions whose live token has its parent, recently spent tokens, and entries of the log.
 */

/** For each user: [numerator, denominator]. */
const sessionsPerUser = 1.5
const spentPerSession = 4
const entriesPerUser = 10

const instance = `'00000000-0000-0000-0000-000000000000'`

/** An id derived from the numbers of two rows, so that rows of several tables match. */
const idOf = (kind: string, number: string): string => `md5('${kind}' || ${number})::uuid`

/** $1 and $2: the first and the last number. */
const users = `insert into auth.users (instance_id, id, aud, role, email, encrypted_password, email_confirmed_at,
    confirmation_token, recovery_token, email_change_token_new, email_change, last_sign_in_at, raw_app_meta_data,
    raw_user_meta_data, created_at, updated_at)
  select ${instance}, ${idOf('user', 'n')}, 'authenticated', 'authenticated', 'person-' || n || '@example.com', $3, now(),
    '', '', '', '', now(), '{"provider": "email", "providers": ["email"]}',
    json_build_object('sub', ${idOf('user', 'n')}, 'email', 'person-' || n || '@example.com', 'email_verified', true,
      'phone_verified', false, 'full_name', 'Person ' || n),
    now() - n * interval '1 second', now()
  from generate_series($1::int, $2::int) n`

const identities = `insert into auth.identities (provider_id, user_id, identity_data, provider, last_sign_in_at, created_at,
    updated_at)
  select id::text, id, raw_user_meta_data, 'email', now(), now(), now() from auth.users where id in (
    select ${idOf('user', 'n')} from generate_series($1::int, $2::int) n)`

const sessions = `insert into auth.sessions (id, user_id, created_at, updated_at, refreshed_at, aal, user_agent, ip)
  select ${idOf('session', 'n')}, ${idOf('user', `(1 + n / ${sessionsPerUser})::int`)}, now() - interval '30 days',
    now(), now() at time zone 'utc', 'aal1',
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0 Safari/537.36', '203.0.113.7'
  from generate_series($1::int, $2::int) n`

const methods = `insert into auth.mfa_amr_claims (id, session_id, created_at, updated_at, authentication_method)
  select gen_random_uuid(), ${idOf('session', 'n')}, now(), now(), 'password' from generate_series($1::int, $2::int) n`

/** Of each session a chain; the last is live, and every second one of the others was spent longer than a day ago. */
const tokens = `insert into auth.refresh_tokens (instance_id, token, user_id, revoked, created_at, updated_at, parent,
    session_id)
  select ${instance}, substr(md5('token' || n || '.' || k), 1, 12),
    (${idOf('user', `(1 + n / ${sessionsPerUser})::int`)})::text, k < ${spentPerSession}, now(),
    now() - (${spentPerSession} - k) * interval '9 hours',
    case when k > 0 then substr(md5('token' || n || '.' || (k - 1)), 1, 12) end, ${idOf('session', 'n')}
  from generate_series($1::int, $2::int) n, generate_series(0, ${spentPerSession}) k`

const entries = `insert into auth.audit_log_entries (instance_id, id, payload, created_at, ip_address)
  select ${instance}, gen_random_uuid(), json_build_object('actor_id', ${idOf('user', `(1 + n / ${entriesPerUser})`)},
      'actor_username', 'person-' || n / ${entriesPerUser} || '@example.com', 'actor_via_sso', false, 'action',
      'token_refreshed', 'log_type', 'token'),
    now() - n * interval '1 second', '203.0.113.7'
  from generate_series($1::int, $2::int) n`

/** Adds the users from the first to the last number, with all their rows. */
export async function addPeople(query: Query, hash: string, first: number, last: number): Promise<void> {
  const of = (each: number): readonly number[] => [Math.ceil((first - 1) * each), Math.ceil(last * each) - 1]
  await query(users, [first, last, hash])
  await query(identities, [first, last])
  for (const text of [sessions, methods, tokens]) await query(text, of(sessionsPerUser))
  await query(entries, of(entriesPerUser))
}

/** The address and the live token of a user and session by number. */
export const emailOf = (number: number): string => `person-${number}@example.com`
