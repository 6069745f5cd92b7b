/**
 * The least that Postgres has to do for each endpoint: one statement wherever one can do it, the rows and columns that
 * the answer is made of, and the locks and conditions without which it would be unsafe. What our endpoints do beyond
 * it (audit rows, address limits, tokens older than a second factor, soft-deleted users) is left out.
 */

/** What every client reads of a user, made by Postgres in the form in which it is sent. */
const userJson = `json_build_object('id', u.id, 'aud', u.aud, 'role', u.role, 'email', u.email,
  'phone', coalesce(u.phone, ''), 'email_confirmed_at', u.email_confirmed_at, 'confirmed_at', u.confirmed_at,
  'last_sign_in_at', u.last_sign_in_at, 'app_metadata', u.raw_app_meta_data, 'user_metadata', u.raw_user_meta_data,
  'identities', (select coalesce(json_agg(json_build_object('identity_id', i.id, 'id', i.provider_id,
      'user_id', i.user_id, 'identity_data', i.identity_data, 'provider', i.provider,
      'last_sign_in_at', i.last_sign_in_at, 'created_at', i.created_at, 'updated_at', i.updated_at,
      'email', i.email)), '[]') from auth.identities i where i.user_id = u.id),
  'factors', (select json_agg(json_build_object('id', f.id, 'friendly_name', f.friendly_name,
      'factor_type', f.factor_type, 'status', f.status, 'created_at', f.created_at, 'updated_at', f.updated_at))
    from auth.mfa_factors f where f.user_id = u.id),
  'created_at', u.created_at, 'updated_at', u.updated_at, 'is_anonymous', u.is_anonymous)::text`

/** What a token says of its bearer, beside what follows from the request. */
const claimsJson = `json_build_object('sub', u.id, 'aud', u.aud, 'role', u.role, 'email', u.email, 'phone', '',
  'app_metadata', u.raw_app_meta_data, 'user_metadata', u.raw_user_meta_data, 'is_anonymous', u.is_anonymous,
  'amr', (select json_agg(json_build_object('method', c.authentication_method,
      'timestamp', extract(epoch from c.updated_at)::bigint))
    from auth.mfa_amr_claims c where c.session_id = s.id),
  'session_id', s.id)`

const notBanned = `coalesce(u.banned_until <= now(), true)`

/** $1 user, $2 session: no row where either is gone or the user is banned. */
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
    insert into auth.refresh_tokens (token, user_id, revoked, created_at, updated_at, parent, session_id)
    select $2, user_id, false, now(), now(), $1, session_id from spent
  ), touched as (
    update auth.sessions s set refreshed_at = now() at time zone 'utc', updated_at = now(), user_agent = $3, ip = $4
    from spent where s.id = spent.session_id
  )
  select ${claimsJson} as claims, ${userJson} as body
  from spent join auth.sessions s on s.id = spent.session_id join auth.users u on u.id = s.user_id
  where ${notBanned}`

/** $1 address: takes one of a code's five guesses, which has to stay taken whatever comes of it. */
export const takeGuess = `update catalograph_auth.codes c set tries = tries + 1 from auth.users u
  where u.instance_id = '00000000-0000-0000-0000-000000000000' and lower(u.email::text) = $1
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
    insert into auth.refresh_tokens (token, user_id, revoked, created_at, updated_at, session_id)
    select $3, $1::text, false, now(), now(), id from session
  )`

/** Claims and user of a session that the same statement begins: its rows cannot be read yet. */
const begun = (user: string): string => `select json_build_object('sub', u.id, 'aud', u.aud, 'role', u.role,
    'email', u.email, 'phone', '', 'app_metadata', u.raw_app_meta_data, 'user_metadata', u.raw_user_meta_data,
    'is_anonymous', u.is_anonymous, 'session_id', $2::uuid, 'amr', json_build_array(json_build_object('method', $6::text,
      'timestamp', extract(epoch from now())::bigint))) as claims,
    ${userJson} as body
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
  where u.instance_id = '00000000-0000-0000-0000-000000000000' and lower(u.email::text) = $1
    and u.email_confirmed_at is not null and ${notBanned}`

/** A sign-in, once the password is known to be right; $7 its hash, which has to be the same still. */
export const beginByPassword = `with known as (
    update auth.users u set last_sign_in_at = now(), updated_at = now()
    where u.id = $1::uuid and u.encrypted_password = $7 returning u.*
  ), ${beginSession}
  ${begun('known')}`

/** $1 address, $2 hash, $3 token, $4 salt, $5 metadata, $6 mail, $7 id: an account, its code and the mail of it. */
export const insertAccount = `with account as (
    insert into auth.users (instance_id, id, aud, role, email, encrypted_password, raw_app_meta_data,
      raw_user_meta_data, confirmation_token, confirmation_sent_at, recovery_token, email_change_token_new,
      email_change, created_at, updated_at)
    values ('00000000-0000-0000-0000-000000000000', $7, 'authenticated', 'authenticated', $1, $2,
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
  )
  select ${userJson} as body from account u`
