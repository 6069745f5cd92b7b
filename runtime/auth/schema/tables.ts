import {
  index,
  short,
  time,
  type TableDefinition,
  identities,
  users,
  mfaAmrClaims,
  mfaChallenges,
  mfaFactors,
  oneTimeTokens,
  refreshTokens,
  sessions,
} from './account-tables.ts'

/**
 * The kind of a password hash: its beginning, up to its salt. An index of auth.users has the foreign kinds, which do
 * not occur in most projects.
 */

/** Null for a text that is not a supported hash (algorithms.ts). */
export const hashKind = `substring(encrypted_password from
  '^(\\$2[aby]\\$(?:0[4-9]|1[0-4])|\\$argon2id?\\$v=\\d+\\$m=\\d{1,6},t=\\d{1,2}|\\$fbscrypt\\$v=1,n=\\d{1,2},r=\\d{1,2},p=\\d)')`

/** Bcrypt up to cost 10 is never slower than our own. */
export const isForeignHash = `encrypted_password <> '' and encrypted_password !~ '^\\$2[aby]\\$(?:0[4-9]|10)\\$'`

export const hashKindsIndex = `create index if not exists users_hash_kind_idx on auth.users ((${hashKind})) where ${isForeignHash}`

const flowState: TableDefinition = {
  name: 'flow_state',
  columns: [
    ['id', 'uuid not null'],
    ['user_id', 'uuid'],
    ['auth_code', 'text'],
    ['code_challenge_method', 'auth.code_challenge_method'],
    ['code_challenge', 'text'],
    ['provider_type', 'text not null'],
    ['provider_access_token', 'text'],
    ['provider_refresh_token', 'text'],
    ['created_at', time],
    ['updated_at', time],
    ['authentication_method', 'text not null'],
    ['auth_code_issued_at', time],
    ['invite_token', 'text'],
    ['referrer', 'text'],
    ['oauth_client_state_id', 'uuid'],
    ['linking_target_id', 'uuid'],
    ['email_optional', 'boolean default false not null'],
  ],
  constraints: ['constraint flow_state_pkey primary key (id)'],
  indexes: [
    index('idx_auth_code', '(auth_code)'),
    index('idx_user_id_auth_method', '(user_id, authentication_method)'),
    index('flow_state_created_at_idx', '(created_at desc)'),
  ],
}

const auditLogEntries: TableDefinition = {
  name: 'audit_log_entries',
  columns: [
    ['instance_id', 'uuid'],
    ['id', 'uuid not null'],
    ['payload', 'json'],
    ['created_at', time],
    ['ip_address', `varchar(64) default ''::varchar not null`],
  ],
  constraints: ['constraint audit_log_entries_pkey primary key (id)'],
  indexes: [index('audit_logs_instance_id_idx', '(instance_id)')],
}

const schemaMigrations: TableDefinition = {
  name: 'schema_migrations',
  columns: [['version', `${short} not null`]],
  constraints: ['constraint schema_migrations_pkey primary key (version)'],
  indexes: [],
}

const instances: TableDefinition = {
  name: 'instances',
  columns: [
    ['id', 'uuid not null'],
    ['uuid', 'uuid'],
    ['raw_base_config', 'text'],
    ['created_at', time],
    ['updated_at', time],
  ],
  constraints: ['constraint instances_pkey primary key (id)'],
  indexes: [],
}

/**
 * Tables, columns, types and order of schema `auth` (spec/auth.md 13), as in supabase/auth: a dump of an existing
 * project's data can be restored into them with COPY.
 */

/** In creation order: referenced tables first. */
export const authTables: readonly TableDefinition[] = [
  users,
  identities,
  sessions,
  refreshTokens,
  mfaFactors,
  mfaChallenges,
  mfaAmrClaims,
  oneTimeTokens,
  flowState,
  auditLogEntries,
  schemaMigrations,
  instances,
]

export const authEnums: Readonly<Record<string, readonly string[]>> = {
  aal_level: ['aal1', 'aal2', 'aal3'],
  code_challenge_method: ['s256', 'plain'],
  factor_status: ['unverified', 'verified'],
  factor_type: ['totp', 'webauthn', 'phone'],
  one_time_token_type: [
    'confirmation_token',
    'reauthentication_token',
    'recovery_token',
    'email_change_token_new',
    'email_change_token_current',
    'phone_change_token',
  ],
}
