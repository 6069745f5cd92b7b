/**
 * The minimum work of Postgres for each endpoint: one statement if possible, the rows and columns of the answer, the
 * locks and conditions without which it would be unsafe, and the audit row of the action. Further work of our endpoints
 * (limits by address, guesses of passwords, tokens older than a second factor, proofs of addresses, soft-deleted users)
 * is left out.
 */

const instance = `'00000000-0000-0000-0000-000000000000'`

/** Of the users `u` in `source`; `address` is the parameter with their source address. */
const auditRow = (action: string, type: string, source: string, address: string): string => `audited as (
    insert into auth.audit_log_entries (instance_id, id, payload, created_at, ip_address)
    select ${instance}, gen_random_uuid(), json_build_object('actor_id', u.id, 'actor_username', u.email,
      'actor_via_sso', false, 'action', '${action}', 'log_type', '${type}'), now(), host(${address}::inet)
    from ${source}
  )`

/** A user in the form for clients, printed by Postgres. */
const userJson = `(select row_to_json(x)::text from (select u.id, u.aud, u.role, u.email,
    coalesce(u.phone, '') as phone, u.email_confirmed_at, u.confirmed_at, u.last_sign_in_at,
    u.raw_app_meta_data as app_metadata,
    u.raw_user_meta_data as user_metadata,
    (select json_agg(y) from (select i.id as identity_id, i.provider_id as id, i.user_id, i.identity_data, i.provider,
      i.last_sign_in_at, i.created_at, i.updated_at, i.email
      from auth.identities i where i.user_id = u.id) y) as identities,
    (select json_agg(y) from (select f.id, f.friendly_name, f.factor_type, f.status, f.created_at, f.updated_at
      from auth.mfa_factors f where f.user_id = u.id) y) as factors,
    u.created_at, u.updated_at, u.is_anonymous) x)`

/** The claims of a token, besides those that follow from the request. */
const claimsJson = (session: string, methods: string): string => `(select row_to_json(x) from (select u.id as sub,
    u.aud, u.role, u.email, '' as phone, u.raw_app_meta_data as app_metadata, u.raw_user_meta_data as user_metadata,
    u.is_anonymous, ${session} as session_id, (select json_agg(y) from (${methods}) y) as amr) x)`

const storedMethods = `select c.authentication_method as method, extract(epoch from c.updated_at)::bigint as timestamp
  from auth.mfa_amr_claims c where c.session_id = s.id`

const notBanned = `coalesce(u.banned_until <= now(), true)`

/** $1 user, $2 session: no row if either does not exist or the user is banned. */
export const readUser = `select ${userJson} as body from auth.users u
  join auth.sessions s on s.id = $2 and s.user_id = u.id
  where u.id = $1 and ${notBanned}`

/**
 * $1 token, $2 its child, $3 agent, $4 address. The session is locked first; under READ COMMITTED the UPDATE looks at
 * the newest version of the token, so of two at once one spends it.
 */
export const rotateToken = `with session as materialized (
    select s.id from auth.sessions s
    where s.id = (select t.session_id from auth.refresh_tokens t where t.token = $1) for update of s
  ), spent as (
    update auth.refresh_tokens t set revoked = true, updated_at = now() from session
    where t.token = $1 and t.session_id = session.id and not t.revoked
    returning t.user_id, t.session_id
  ), child as (
    insert into auth.refresh_tokens (instance_id, token, user_id, revoked, created_at, updated_at, parent, session_id)
    select ${instance}, $2, user_id, false, now(), now(), $1, session_id from spent
  ), touched as (
    update auth.sessions s set refreshed_at = now() at time zone 'utc', updated_at = now(), user_agent = $3, ip = $4
    from spent where s.id = spent.session_id
  ), ${auditRow('token_refreshed', 'token', 'spent join auth.users u on u.id = spent.user_id::uuid', '$4')}
  select ${claimsJson('s.id', storedMethods)} as claims, ${userJson} as body
  from spent join auth.sessions s on s.id = spent.session_id join auth.users u on u.id = s.user_id
  where ${notBanned}`

/** $1 address: takes one of a code's five guesses, which stays taken in any case. */
export const takeGuess = `update catalograph_auth.codes c set tries = tries + 1 from auth.users u
  where u.instance_id = ${instance} and lower(u.email::text) = $1
    and c.user_id = u.id and c.slot = 'confirmation' and c.tries < 5 and c.issued_at > now() - interval '1 hour'
  returning u.id, c.salt, u.confirmation_token as token`

/** The rows of a new session: $1 user, $2 session, $3 token, $4 agent, $5 address, $6 method. */
const beginSession = `session as (
    insert into auth.sessions (id, user_id, created_at, updated_at, aal, user_agent, ip)
    select $2, id, now(), now(), 'aal1', $4, $5 from known returning id
  ), method as (
    insert into auth.mfa_amr_claims (id, session_id, created_at, updated_at, authentication_method)
    select gen_random_uuid(), id, now(), now(), $6 from session
  ), token as (
    insert into auth.refresh_tokens (instance_id, token, user_id, revoked, created_at, updated_at, session_id)
    select ${instance}, $3, $1::text, false, now(), now(), id from session
  ), ${auditRow('login', 'account', 'known u', '$5')}`

const newMethod = 'select $6::text as method, extract(epoch from now())::bigint as timestamp'

/** Claims and user of a session that the same statement begins: its rows cannot be read yet. */
const begun = (user: string): string => `select ${claimsJson('$2::uuid', newMethod)} as claims, ${userJson} as body
  from ${user} u`

/** The same parameters, and $7 the confirmation's token. Confirms, spends the code and signs in, once. */
export const confirmAndBegin = `with known as (
    update auth.users u set email_confirmed_at = now(), confirmation_token = '', last_sign_in_at = now(),
      updated_at = now(), raw_user_meta_data = u.raw_user_meta_data || '{"email_verified": true}'
    where u.id = $1::uuid and u.confirmation_token = $7 and ${notBanned} returning u.*
  ), copied as (
    delete from auth.one_time_tokens o using known
    where o.user_id = known.id and o.token_type = 'confirmation_token'
  ), counted as (
    delete from catalograph_auth.codes c using known where c.user_id = known.id and c.slot = 'confirmation'
  ), verified as (
    update auth.identities i set identity_data = identity_data || '{"email_verified": true}', updated_at = now()
    from known where i.user_id = known.id and i.provider = 'email'
  ), ${beginSession}
  ${begun('known')}`

/** $1 address. */
export const readPassword = `select u.id, u.encrypted_password from auth.users u
  where u.instance_id = ${instance} and lower(u.email::text) = $1
    and u.email_confirmed_at is not null and ${notBanned}`

/** A sign-in after the password was checked; $7 its hash, which must be unchanged. */
export const beginByPassword = `with known as (
    update auth.users u set last_sign_in_at = now(), updated_at = now()
    where u.id = $1::uuid and u.encrypted_password = $7 returning u.*
  ), ${beginSession}
  ${begun('known')}`

/** $1 address, $2 hash, $3 token, $4 salt, $5 metadata, $6 mail, $7 id, $8 the client's address: an account. */
export const insertAccount = `with account as (
    insert into auth.users (instance_id, id, aud, role, email, encrypted_password, raw_app_meta_data,
      raw_user_meta_data, confirmation_token, confirmation_sent_at, recovery_token, email_change_token_new,
      email_change, created_at, updated_at)
    values (${instance}, $7, 'authenticated', 'authenticated', $1, $2,
      '{"provider": "email", "providers": ["email"]}', $5, $3, now(), '', '', '', now(), now())
    on conflict do nothing
    returning *
  ), identity as (
    insert into auth.identities (provider_id, user_id, identity_data, provider, last_sign_in_at, created_at, updated_at)
    select id, id, $5, 'email', now(), now(), now() from account
  ), copied as (
    insert into auth.one_time_tokens (id, user_id, token_type, token_hash, relates_to)
    select gen_random_uuid(), id, 'confirmation_token', $3, $1 from account
  ), code as (
    insert into catalograph_auth.codes (user_id, slot, salt) select id, 'confirmation', $4 from account
  ), mailed as (
    insert into catalograph_auth.outbox (kind, recipient, subject, html)
    select 'confirmation', $1, 'Confirm your address', $6 from account
  ), ${auditRow('user_confirmation_requested', 'user', 'account u', '$8')}
  select ${userJson} as body from account u`
