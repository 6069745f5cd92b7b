import type { TableColumn, Index, TableDefinition } from './account-tables.ts'
import { authEnums, authTables } from './tables.ts'

/**
 * Schema `auth` as SQL. Existing objects stay: a whole project may have been restored before, so only missing objects
 * are created, down to single columns.
 */

/** The owner of these tables; row-level security does not apply to owners. */
export const authOwner = 'supabase_auth_admin'

const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`

/** A role that the migrating role may not create is left out: the migrating role then owns the tables. */
const createOwner = `do $$ begin
  create role ${authOwner} login noinherit createrole;
exception
  when duplicate_object or unique_violation or insufficient_privilege then null;
end $$`

/**
 * Since PostgreSQL 16 the creator of a role may grant it, but is not a member of it (manual, CREATE ROLE, Notes); there a member
 * inherits where the grant says so, before where its own role does.
 */
const joinOwner = `do $$ begin
  if exists (select from pg_catalog.pg_roles where rolname = '${authOwner}')
    and not (select rolsuper from pg_catalog.pg_roles where rolname = current_user)
    and current_user <> '${authOwner}'
  then
    execute format('grant ${authOwner} to %I', current_user)
      || case when current_setting('server_version_num')::int >= 160000 then ' with inherit true, set true' else '' end;
  end if;
exception
  when insufficient_privilege then null;
end $$`

/** Runs a command if the migrating role may: only for ownership and grants to others. */
const ifAllowed = (role: string, command: string): string => `do $$ begin
  if exists (select from pg_catalog.pg_roles where rolname = ${literal(role)}) then ${command}; end if;
exception
  when insufficient_privilege then null;
end $$`

const createEnum = ([name, labels]: readonly [string, readonly string[]]): string => `do $$ begin
  create type auth.${name} as enum (${labels.map(literal).join(', ')});
exception
  when duplicate_object then null;
end $$`

/** Projects from before 2024 have the provider's id of a person in column `id`, and no id of the row. */
const renameIdentityIds = `do $$ begin
  if exists (select from pg_catalog.pg_attribute where attrelid = pg_catalog.to_regclass('auth.identities')
    and attname = 'id' and atttypid = 'text'::regtype)
  then
    alter table auth.identities rename column id to provider_id;
    alter table auth.identities drop constraint identities_pkey,
      add column id uuid default gen_random_uuid() not null,
      add constraint identities_pkey primary key (id),
      add constraint identities_provider_id_provider_unique unique (provider_id, provider);
  end if;
end $$`

const columnText = ([name, definition]: TableColumn): string => `${name} ${definition}`

const createTable = ({ name, columns, constraints }: TableDefinition): string =>
  `create table if not exists auth.${name} (\n  ${[...columns.map(columnText), ...constraints].join(',\n  ')}\n)`

/** NOT NULL without a default cannot be added to existing rows; such columns are in every version of the tables. */
const addColumns = ({ name, columns }: TableDefinition): string => {
  const additions = columns
    .filter(([, definition]) => !definition.endsWith('not null') || definition.includes('default'))
    .map((column) => `add column if not exists ${columnText(column)}`)
  return additions.length === 0 ? '' : `alter table auth.${name} ${additions.join(', ')}`
}

const createIndexes = ({ name, indexes }: TableDefinition): readonly string[] =>
  indexes.map(
    (index: Index) =>
      `create ${index.unique ? 'unique ' : ''}index if not exists ${index.name} on auth.${name} ${index.on}`,
  )

const protect = ({ name }: TableDefinition): readonly string[] => [
  `alter table auth.${name} enable row level security`,
  ...['anon', 'authenticated', 'service_role'].map((role) =>
    ifAllowed(role, `revoke all on auth.${name} from ${role}`),
  ),
  ifAllowed('postgres', `grant select on auth.${name} to postgres with grant option`),
]

/** Statements that create the schema, in order; running them again is harmless. */
export const authSchema: readonly string[] = [
  createOwner,
  joinOwner,
  'create schema if not exists auth',
  ...['anon', 'authenticated', 'service_role'].map((role) => ifAllowed(role, `grant usage on schema auth to ${role}`)),
  ifAllowed('postgres', 'grant usage on schema auth to postgres'),
  ifAllowed(authOwner, `grant usage, create on schema auth to ${authOwner}`),
  ...Object.entries(authEnums).map(createEnum),
  renameIdentityIds,
  ...authTables.flatMap((table) => [createTable(table), addColumns(table), ...createIndexes(table), ...protect(table)]),
].filter((text) => text !== '')
