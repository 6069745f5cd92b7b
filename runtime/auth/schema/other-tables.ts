import { index, short, time, type TableDefinition } from './table.ts'

/** Flows, the log, and tables that older tools look for. */

export const flowState: TableDefinition = {
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

export const auditLogEntries: TableDefinition = {
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

export const schemaMigrations: TableDefinition = {
  name: 'schema_migrations',
  columns: [['version', `${short} not null`]],
  constraints: ['constraint schema_migrations_pkey primary key (version)'],
  indexes: [],
}

export const instances: TableDefinition = {
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
