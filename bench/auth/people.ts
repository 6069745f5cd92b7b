import { randomUUID } from 'node:crypto'
import { linkKey, linkToken, newSalt } from '../../runtime/auth/secrets/one-time-tokens.ts'
import { createTokens } from './limit-tokens.ts'

/** The initial rows of a run, and their owners' secrets: inserted by SQL, because signing up would take minutes. */

export type Query = (text: string, values?: readonly unknown[]) => Promise<unknown>

/** A signed-in user. */
export interface Member {
  readonly email: string
  readonly accessToken: string
  readonly refreshToken: string
}

/** A user who must confirm the address. */
export interface Newcomer {
  readonly email: string
  readonly code: string
}

const ids = (count: number): readonly string[] => Array.from({ length: count }, () => randomUUID())

const emailOf = (group: string, index: number): string => `${group}-${index}@example.com`

/** $1 ids, $2 addresses, $3 hash, $4 confirmation tokens, empty for confirmed users. */
const insertUsers = `with given as (
    select * from unnest($1::uuid[], $2::text[], $4::text[]) as t (id, email, token)
  ), made as (
    insert into auth.users (instance_id, id, aud, role, email, encrypted_password, email_confirmed_at,
      confirmation_token, confirmation_sent_at, recovery_token, email_change_token_new, email_change,
      raw_app_meta_data, raw_user_meta_data, created_at, updated_at)
    select '00000000-0000-0000-0000-000000000000', id, 'authenticated', 'authenticated', email, $3,
      case when token = '' then now() end, token, now(), '', '', '', '{"provider": "email", "providers": ["email"]}',
      json_build_object('sub', id, 'email', email, 'email_verified', token = '', 'phone_verified', false), now(), now()
    from given
    returning id, email, raw_user_meta_data
  )
  insert into auth.identities (provider_id, user_id, identity_data, provider, last_sign_in_at, created_at, updated_at)
  select id::text, id, raw_user_meta_data, 'email', now(), now(), now() from made`

/** $1 ids of users, $2 of their sessions, $3 refresh tokens. */
const insertSessions = `with given as (
    select * from unnest($1::uuid[], $2::uuid[], $3::text[]) as t (user_id, id, token)
  ), session as (
    insert into auth.sessions (id, user_id, created_at, updated_at, aal, user_agent, ip)
    select id, user_id, now(), now(), 'aal1', 'bench', '127.0.0.1' from given
  ), method as (
    insert into auth.mfa_amr_claims (id, session_id, created_at, updated_at, authentication_method)
    select gen_random_uuid(), id, now(), now(), 'password' from given
  )
  insert into auth.refresh_tokens (instance_id, token, user_id, revoked, created_at, updated_at, session_id)
  select '00000000-0000-0000-0000-000000000000', token, user_id::text, false, now(), now(), id from given`

/** $1 ids of users, $2 addresses, $3 tokens, $4 salts. */
const insertCodes = `with given as (
    select * from unnest($1::uuid[], $2::text[], $3::text[], $4::bytea[]) as t (user_id, email, token, salt)
  ), token as (
    insert into auth.one_time_tokens (id, user_id, token_type, token_hash, relates_to, created_at, updated_at)
    select gen_random_uuid(), user_id, 'confirmation_token', token, email, now() at time zone 'utc',
      now() at time zone 'utc' from given
  )
  insert into catalograph_auth.codes (user_id, slot, salt) select user_id, 'confirmation', salt from given`

/** Users with a password, each signed in once. */
export async function addMembers(
  query: Query,
  given: { readonly group: string; readonly count: number; readonly hash: string; readonly secret: string },
): Promise<readonly Member[]> {
  const { group, count, hash, secret } = given
  const [users, sessions] = [ids(count), ids(count)]
  const emails = users.map((_id, index) => emailOf(group, index))
  const tokens = users.map((_id, index) => `${group}-${String(index).padStart(11, '0')}`)
  await query(insertUsers, [users, emails, hash, users.map(() => '')])
  await query(insertSessions, [users, sessions, tokens])
  const { sign } = createTokens(secret)
  const exp = Math.floor(Date.now() / 1000) + 86_400
  return users.map((sub, index) => {
    const [email = '', refreshToken = ''] = [emails[index], tokens[index]]
    const claims = { sub, aud: 'authenticated', role: 'authenticated', email, exp, session_id: sessions[index] }
    return { email, refreshToken, accessToken: sign({ ...claims, aal: 'aal1', is_anonymous: false }) }
  })
}

const code = '123456'

/** Users with a pending code. */
export async function addNewcomers(
  query: Query,
  given: { readonly group: string; readonly count: number; readonly hash: string; readonly secret: string },
): Promise<readonly Newcomer[]> {
  const { group, count, hash, secret } = given
  const [users, key] = [ids(count), linkKey(secret)]
  const emails = users.map((_id, index) => emailOf(group, index))
  const salts = users.map(() => newSalt())
  const tokens = users.map((_id, index) =>
    linkToken(key, { purpose: 'confirmation', address: emails[index] ?? '', code, salt: salts[index] ?? newSalt() }),
  )
  await query(insertUsers, [users, emails, hash, tokens])
  await query(insertCodes, [users, emails, tokens, salts])
  return emails.map((email) => ({ email, code }))
}
