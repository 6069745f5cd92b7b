/** Column: name, then type with its default and constraint. */
export type TableColumn = readonly [name: string, definition: string]

export interface TableDefinition {
  readonly name: string
  readonly columns: readonly TableColumn[]
  readonly constraints: readonly string[]
  /** `[unique ]name (columns)` and the rest, as after CREATE INDEX. */
  readonly indexes: readonly Index[]
}

export interface Index {
  readonly name: string
  readonly unique: boolean
  readonly on: string
}

export const time = 'timestamptz'
export const short = 'varchar(255)'
const emptyText = `varchar(255) default ''::varchar`

export const index = (name: string, on: string): Index => ({ name, unique: false, on })
const unique = (name: string, on: string): Index => ({ name, unique: true, on })

/** Only tokens are unique: old rows contain blanks and, for telephones, digits. */
const tokenIndex = (name: string, column: string): Index =>
  unique(name, `(${column}) where ((${column})::text !~ '^[0-9 ]*$'::text)`)

const toUser = (table: string): string =>
  `constraint ${table}_user_id_fkey foreign key (user_id) references auth.users(id) on delete cascade`

export const users: TableDefinition = {
  name: 'users',
  columns: [
    ['instance_id', 'uuid'],
    ['id', 'uuid not null'],
    ['aud', short],
    ['role', short],
    ['email', short],
    ['encrypted_password', short],
    ['email_confirmed_at', time],
    ['invited_at', time],
    ['confirmation_token', short],
    ['confirmation_sent_at', time],
    ['recovery_token', short],
    ['recovery_sent_at', time],
    ['email_change_token_new', short],
    ['email_change', short],
    ['email_change_sent_at', time],
    ['last_sign_in_at', time],
    ['raw_app_meta_data', 'jsonb'],
    ['raw_user_meta_data', 'jsonb'],
    ['is_super_admin', 'boolean'],
    ['created_at', time],
    ['updated_at', time],
    ['phone', 'text default null::varchar'],
    ['phone_confirmed_at', time],
    ['phone_change', `text default ''::varchar`],
    ['phone_change_token', emptyText],
    ['phone_change_sent_at', time],
    ['confirmed_at', `${time} generated always as (least(email_confirmed_at, phone_confirmed_at)) stored`],
    ['email_change_token_current', emptyText],
    ['email_change_confirm_status', 'smallint default 0'],
    ['banned_until', time],
    ['reauthentication_token', emptyText],
    ['reauthentication_sent_at', time],
    ['is_sso_user', 'boolean default false not null'],
    ['deleted_at', time],
    ['is_anonymous', 'boolean default false not null'],
  ],
  constraints: [
    'constraint users_pkey primary key (id)',
    'constraint users_phone_key unique (phone)',
    `constraint users_email_change_confirm_status_check
      check (email_change_confirm_status >= 0 and email_change_confirm_status <= 2)`,
  ],
  indexes: [
    tokenIndex('confirmation_token_idx', 'confirmation_token'),
    tokenIndex('recovery_token_idx', 'recovery_token'),
    tokenIndex('email_change_token_new_idx', 'email_change_token_new'),
    tokenIndex('email_change_token_current_idx', 'email_change_token_current'),
    tokenIndex('reauthentication_token_idx', 'reauthentication_token'),
    unique('users_email_partial_key', '(email) where (is_sso_user = false)'),
    index('users_instance_id_idx', '(instance_id)'),
    index('users_instance_id_email_idx', '(instance_id, lower((email)::text))'),
    index('users_is_anonymous_idx', '(is_anonymous)'),
  ],
}

export const identities: TableDefinition = {
  name: 'identities',
  columns: [
    ['provider_id', 'text not null'],
    ['user_id', 'uuid not null'],
    ['identity_data', 'jsonb not null'],
    ['provider', 'text not null'],
    ['last_sign_in_at', time],
    ['created_at', time],
    ['updated_at', time],
    ['email', `text generated always as (lower((identity_data ->> 'email'::text))) stored`],
    ['id', 'uuid default gen_random_uuid() not null'],
  ],
  constraints: [
    'constraint identities_pkey primary key (id)',
    'constraint identities_provider_id_provider_unique unique (provider_id, provider)',
    toUser('identities'),
  ],
  indexes: [index('identities_email_idx', '(email text_pattern_ops)'), index('identities_user_id_idx', '(user_id)')],
}

export const sessions: TableDefinition = {
  name: 'sessions',
  columns: [
    ['id', 'uuid not null'],
    ['user_id', 'uuid not null'],
    ['created_at', time],
    ['updated_at', time],
    ['factor_id', 'uuid'],
    ['aal', 'auth.aal_level'],
    ['not_after', time],
    ['refreshed_at', 'timestamp without time zone'],
    ['user_agent', 'text'],
    ['ip', 'inet'],
    ['tag', 'text'],
    ['oauth_client_id', 'uuid'],
    ['refresh_token_hmac_key', 'text'],
    ['refresh_token_counter', 'bigint'],
    ['scopes', 'text'],
  ],
  constraints: ['constraint sessions_pkey primary key (id)', toUser('sessions')],
  indexes: [
    index('sessions_user_id_idx', '(user_id)'),
    index('user_id_created_at_idx', '(user_id, created_at)'),
    index('sessions_not_after_idx', '(not_after desc)'),
    index('sessions_oauth_client_id_idx', '(oauth_client_id)'),
  ],
}

export const refreshTokens: TableDefinition = {
  name: 'refresh_tokens',
  columns: [
    ['instance_id', 'uuid'],
    ['id', 'bigserial not null'],
    ['token', short],
    ['user_id', short],
    ['revoked', 'boolean'],
    ['created_at', time],
    ['updated_at', time],
    ['parent', short],
    ['session_id', 'uuid'],
  ],
  constraints: [
    'constraint refresh_tokens_pkey primary key (id)',
    'constraint refresh_tokens_token_unique unique (token)',
    `constraint refresh_tokens_session_id_fkey foreign key (session_id)
      references auth.sessions(id) on delete cascade`,
  ],
  indexes: [
    index('refresh_tokens_instance_id_idx', '(instance_id)'),
    index('refresh_tokens_instance_id_user_id_idx', '(instance_id, user_id)'),
    index('refresh_tokens_parent_idx', '(parent)'),
    index('refresh_tokens_session_id_revoked_idx', '(session_id, revoked)'),
    index('refresh_tokens_updated_at_idx', '(updated_at desc)'),
  ],
}

export const mfaFactors: TableDefinition = {
  name: 'mfa_factors',
  columns: [
    ['id', 'uuid not null'],
    ['user_id', 'uuid not null'],
    ['friendly_name', 'text'],
    ['factor_type', 'auth.factor_type not null'],
    ['status', 'auth.factor_status not null'],
    ['created_at', `${time} not null`],
    ['updated_at', `${time} not null`],
    ['secret', 'text'],
    ['phone', 'text'],
    ['last_challenged_at', time],
    ['web_authn_credential', 'jsonb'],
    ['web_authn_aaguid', 'uuid'],
    ['last_webauthn_challenge_data', 'jsonb'],
  ],
  constraints: [
    'constraint mfa_factors_pkey primary key (id)',
    'constraint mfa_factors_last_challenged_at_key unique (last_challenged_at)',
    toUser('mfa_factors'),
  ],
  indexes: [
    index('factor_id_created_at_idx', '(user_id, created_at)'),
    unique(
      'mfa_factors_user_friendly_name_unique',
      `(friendly_name, user_id) where (trim(both from friendly_name) <> '')`,
    ),
    index('mfa_factors_user_id_idx', '(user_id)'),
    unique('unique_phone_factor_per_user', '(user_id, phone)'),
  ],
}

export const mfaChallenges: TableDefinition = {
  name: 'mfa_challenges',
  columns: [
    ['id', 'uuid not null'],
    ['factor_id', 'uuid not null'],
    ['created_at', `${time} not null`],
    ['verified_at', time],
    ['ip_address', 'inet not null'],
    ['otp_code', 'text'],
    ['web_authn_session_data', 'jsonb'],
  ],
  constraints: [
    'constraint mfa_challenges_pkey primary key (id)',
    `constraint mfa_challenges_auth_factor_id_fkey foreign key (factor_id)
      references auth.mfa_factors(id) on delete cascade`,
  ],
  indexes: [index('mfa_challenge_created_at_idx', '(created_at desc)')],
}

export const mfaAmrClaims: TableDefinition = {
  name: 'mfa_amr_claims',
  columns: [
    ['session_id', 'uuid not null'],
    ['created_at', `${time} not null`],
    ['updated_at', `${time} not null`],
    ['authentication_method', 'text not null'],
    ['id', 'uuid not null'],
  ],
  constraints: [
    'constraint amr_id_pk primary key (id)',
    `constraint mfa_amr_claims_session_id_authentication_method_pkey
      unique (session_id, authentication_method)`,
    `constraint mfa_amr_claims_session_id_fkey foreign key (session_id)
      references auth.sessions(id) on delete cascade`,
  ],
  indexes: [],
}

export const oneTimeTokens: TableDefinition = {
  name: 'one_time_tokens',
  columns: [
    ['id', 'uuid not null'],
    ['user_id', 'uuid not null'],
    ['token_type', 'auth.one_time_token_type not null'],
    ['token_hash', 'text not null'],
    ['relates_to', 'text not null'],
    ['created_at', 'timestamp without time zone default now() not null'],
    ['updated_at', 'timestamp without time zone default now() not null'],
  ],
  constraints: [
    'constraint one_time_tokens_pkey primary key (id)',
    'constraint one_time_tokens_token_hash_check check (char_length(token_hash) > 0)',
    toUser('one_time_tokens'),
  ],
  indexes: [
    index('one_time_tokens_relates_to_hash_idx', 'using hash (relates_to)'),
    index('one_time_tokens_token_hash_hash_idx', 'using hash (token_hash)'),
    unique('one_time_tokens_user_id_token_type_key', '(user_id, token_type)'),
  ],
}
