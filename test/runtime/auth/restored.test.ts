import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { forSuite } from '../../support/for-suite.ts'
import { lawMajors } from '../../support/whole.ts'
import { startAuthServer, type Answer } from '../../support/auth.ts'
import { codeOf } from '../../support/totp.ts'

/** A whole dump of a project of early 2022 to 2023, restored before auth is enabled (spec/auth.md 13). */

const [alice, bob, carol] = [1, 2, 3].map((n) => `0000000${n}-0000-4000-8000-000000000000`)
const session = '00000004-0000-4000-8000-000000000000'
const factor = '00000005-0000-4000-8000-000000000000'

/** Published test vectors of bcrypt: of cost 6 and of cost 10. */
const alphabet = 'abcdefghijklmnopqrstuvwxyz'
const [weak, usual] = [
  '$2a$06$.rCVZVOThsIa97pEDOxvGuRRgzG64bvtJ0938xuqzv18d3ZpQhstC',
  '$2a$10$fVH8e28OQRj9tqiDXs1e1uxpsjN0c7II7YPKXua2NAKYvM6iQk7dq',
]
const sha224 = (text: string): string => createHash('sha224').update(text).digest('hex')
const secret = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP'

const dump = `create schema if not exists auth;
  create type auth.aal_level as enum ('aal1', 'aal2', 'aal3');
  create type auth.factor_type as enum ('totp', 'webauthn');
  create type auth.factor_status as enum ('unverified', 'verified');
  create table auth.users (instance_id uuid, id uuid not null primary key, aud varchar(255), role varchar(255),
    email varchar(255) unique, encrypted_password varchar(255), email_confirmed_at timestamptz, invited_at timestamptz,
    confirmation_token varchar(255), confirmation_sent_at timestamptz, recovery_token varchar(255),
    recovery_sent_at timestamptz, email_change_token_new varchar(255), email_change varchar(255),
    email_change_sent_at timestamptz, last_sign_in_at timestamptz, raw_app_meta_data jsonb, raw_user_meta_data jsonb,
    is_super_admin bool, created_at timestamptz, updated_at timestamptz, phone varchar(15) default null unique,
    phone_confirmed_at timestamptz, phone_change varchar(15) default '', phone_change_token varchar(255) default '',
    phone_change_sent_at timestamptz,
    confirmed_at timestamptz generated always as (least(email_confirmed_at, phone_confirmed_at)) stored,
    email_change_token_current varchar(255) default '', email_change_confirm_status smallint default 0,
    banned_until timestamptz, reauthentication_token varchar(255) default '', reauthentication_sent_at timestamptz);
  create table auth.identities (id text not null, user_id uuid not null references auth.users on delete cascade,
    identity_data jsonb not null, provider text not null, last_sign_in_at timestamptz, created_at timestamptz,
    updated_at timestamptz, constraint identities_pkey primary key (provider, id));
  create table auth.sessions (id uuid not null primary key, user_id uuid not null references auth.users on delete cascade,
    created_at timestamptz, updated_at timestamptz, factor_id uuid, aal auth.aal_level);
  create table auth.refresh_tokens (instance_id uuid, id bigserial primary key, token varchar(255) unique,
    user_id varchar(255), revoked bool, created_at timestamptz, updated_at timestamptz, parent varchar(255),
    session_id uuid references auth.sessions on delete cascade);
  create table auth.mfa_factors (id uuid not null primary key, user_id uuid not null references auth.users on delete cascade,
    friendly_name text, factor_type auth.factor_type not null, status auth.factor_status not null,
    created_at timestamptz not null, updated_at timestamptz not null, secret text);
  create table auth.mfa_challenges (id uuid not null primary key,
    factor_id uuid not null references auth.mfa_factors on delete cascade, created_at timestamptz not null,
    verified_at timestamptz, ip_address inet not null);
  create table auth.mfa_amr_claims (session_id uuid not null references auth.sessions on delete cascade,
    created_at timestamptz not null, updated_at timestamptz not null, authentication_method text not null,
    constraint mfa_amr_claims_session_id_authentication_method_pkey unique (session_id, authentication_method),
    id uuid not null primary key);
  create table auth.audit_log_entries (instance_id uuid, id uuid not null primary key, payload json,
    created_at timestamptz);
  create table auth.schema_migrations (version varchar(255) primary key);
  insert into auth.users (instance_id, id, aud, role, email, encrypted_password, email_confirmed_at, raw_app_meta_data,
    raw_user_meta_data, created_at, recovery_token, recovery_sent_at) values
    ('00000000-0000-0000-0000-000000000000', '${alice}', 'authenticated', 'authenticated', 'Alice@Example.com', '${weak}',
      now(), '{"provider": "email", "providers": ["email", "google"]}', 'null', now(), '', null),
    (null, '${bob}', null, null, 'bob@example.com', '${usual}', now(), null, null, null, null, null),
    ('00000000-0000-0000-0000-000000000000', '${carol}', 'authenticated', 'authenticated', 'carol@example.com', '',
      now(), '{}', '{}', now(), '${sha224('carol@example.com123456')}', now());
  insert into auth.identities (id, user_id, identity_data, provider) values
    ('${alice}', '${alice}', '{"sub": "${alice}", "email": "Alice@Example.com"}', 'email'),
    ('1234567890', '${alice}', '{"sub": "1234567890", "email": "alice@example.com"}', 'google');
  insert into auth.sessions (id, user_id, created_at, updated_at, aal) values ('${session}', '${alice}', now(), now(), 'aal1');
  insert into auth.mfa_amr_claims values ('${session}', now(), now(), 'password', gen_random_uuid());
  insert into auth.refresh_tokens (token, user_id, revoked, created_at, updated_at, parent, session_id) values
    ('q7Xy-first_token-aBcDe', '${alice}', true, now() - interval '1 day', now() - interval '1 hour', null, '${session}'),
    ('q7Xy-second_token-aBcDe', '${alice}', false, now(), now(), 'q7Xy-first_token-aBcDe', '${session}'),
    ('q7Xy-without_session-aB', '${bob}', false, now(), now(), null, null);
  insert into auth.mfa_factors values
    ('${factor}', '${alice}', 'phone', 'totp', 'verified', now(), now(), '${secret}');`

describe.each(lawMajors())('a restored project on PostgreSQL %i', (major) => {
  const server = forSuite(startAuthServer, { major, before: dump, fullHashing: true })

  const post = (path: string, body: unknown): Promise<Answer> => server.call('POST', path, { body })
  const signIn = (email: string): Promise<Answer> => post('/token?grant_type=password', { email, password: alphabet })

  it('lets people in by their old passwords, and renews weak hashes', async () => {
    const { status, body } = await signIn('alice@example.com')
    expect([status, body.user.id, body.user.user_metadata, body.user.identities.length]).toEqual([200, alice, {}, 2])
    expect((await signIn('bob@example.com')).body.user).toMatchObject({ id: bob, identities: [{ provider: 'email' }] })
    const { rows } = await server.db.query('select encrypted_password as hash from auth.users order by id limit 2')
    expect(rows.map(({ hash }) => hash.slice(0, 7))).toEqual(['$2a$10$', '$2a$10$'])
    expect((await signIn('alice@example.com')).status).toBe(200)
  })

  it('goes on with their sessions', async () => {
    const refresh = (refresh_token: string): Promise<Answer> =>
      post('/token?grant_type=refresh_token', { refresh_token })
    const { body } = await refresh('q7Xy-first_token-aBcDe')
    expect([body.refresh_token, body.user.id]).toEqual(['q7Xy-second_token-aBcDe', alice])
    expect((await refresh('q7Xy-second_token-aBcDe')).status).toBe(200)
    expect((await refresh('q7Xy-without_session-aB')).body.error_code).toBe('session_not_found')
  })

  it('takes the codes of their second factors', async () => {
    const { body } = await signIn('alice@example.com')
    const token = body.access_token
    const path = `/factors/${factor}`
    const { body: challenge } = await server.call('POST', `${path}/challenge`, { token })
    const answer = { challenge_id: challenge.id, code: codeOf(secret) }
    const verified = await server.call('POST', `${path}/verify`, { token, body: answer })
    expect([verified.status, verified.body.user?.factors.length]).toEqual([200, 1])
  })

  it('takes codes that were mailed before, and no link that anybody could compute (attack 10)', async () => {
    const token_hash = sha224('carol@example.com123456')
    expect((await post('/verify', { type: 'recovery', token_hash })).body.error_code).toBe('otp_expired')
    const typed = { type: 'recovery', email: 'carol@example.com', token: '123456' }
    expect((await post('/verify', typed)).body.user).toMatchObject({ id: carol })
    expect((await post('/verify', typed)).body.error_code).toBe('otp_expired')
  })

  it('knows the addresses that are taken, and takes new ones', async () => {
    const again = await post('/signup', { email: 'alice@example.com', password: 'correct horse' })
    expect([again.status, again.body.identities]).toEqual([200, []])
    const email = 'new@example.com'
    const both = await Promise.all([1, 2].map(() => post('/signup', { email, password: 'correct horse' })))
    expect(both.map(({ status }) => status)).not.toContain(500)
    const { body } = await server.call('GET', '/admin/users', { token: server.serviceRole })
    expect(body.users.length).toBe(4)
    const given = { email: 'bob@example.com' }
    const moved = await server.call('PUT', `/admin/users/${alice}`, { token: server.serviceRole, body: given })
    expect([moved.status, moved.body.error_code]).toEqual([422, 'email_exists'])
  })
})
