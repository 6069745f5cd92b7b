import { ident } from '../../../runtime/sql/ident.ts'
import { literal } from '../../../runtime/sql/tree.ts'
import { currentBody } from '../../../runtime/db/check/version.ts'
import { commandBody, dropBody, foldBody, followShardsBody, isFollowingShards, shardBody } from './counting.ts'
import { liveNeeds, liveObjects } from './prepare-live.ts'
import {
  creatingInAuth,
  creatingRole,
  creatingSchema,
  grantingAuthExecute,
  grantingAuthUsage,
  grantingRole,
} from './obstacles.ts'
import {
  ownersMigration,
  functionOid,
  migration,
  ownFunction,
  ownOid,
  ownTable,
  publicHas,
  signature,
  tableOid,
  type Migration,
  type OwnFunction,
} from './migration.ts'
import { preparationNumber, recordedNumber } from './preparation.ts'

// --- Roles: shared by all databases of a cluster, hence made under the noses of other databases' preparations.

const apiRoles = ['anon', 'authenticated', 'service_role'] as const

const since16 = `pg_catalog.current_setting('server_version_num')::int >= 160000`

/** BYPASSRLS may be given by superusers, and since PostgreSQL 16 by roles that have it (manual, CREATE ROLE). */
const mayBypass = `(select r.rolsuper or (r.rolbypassrls and ${since16})
      from pg_catalog.pg_roles r where r.rolname = current_user)`

const createRole = (role: string): string => {
  const plain = `create role ${role} nologin noinherit`
  const bypassing = `if ${mayBypass} then ${plain} bypassrls; else ${plain}; end if;`
  const create = role === 'service_role' ? bypassing : `${plain};`
  return `do $$ begin ${create} exception when duplicate_object or unique_violation then null; end $$`
}

const role = (name: string): Migration =>
  migration(
    `role ${name}`,
    `exists (select from pg_catalog.pg_roles where rolname = '${name}')`,
    createRole(name),
    creatingRole(name),
  )

/**
 * Whether the login role may become the role: a privilege of its own since PostgreSQL 16 (manual, GRANT ... WITH SET).
 */
const maySet = (login: string, name: string): string => `coalesce((
    select pg_catalog.pg_has_role(l.oid, r.oid,
      case when ${since16} then 'SET' else 'MEMBER' end)
    from pg_catalog.pg_roles l, pg_catalog.pg_roles r
    where l.rolname = ${literal(login)} and r.rolname = '${name}'), false)`

const membership =
  (login: string) =>
  (name: string): Migration =>
    migration(
      `${name} for ${login}`,
      maySet(login, name),
      `grant ${name} to ${ident(login)}`,
      grantingRole(name, login),
    )

// --- Schema catalograph: the counter, the functions that read it, and those that refuse.

const schemaPrivilege = (grantee: string, schema: string): string => `coalesce((
    select pg_catalog.has_schema_privilege(r.oid, n.oid, 'USAGE')
    from pg_catalog.pg_roles r, pg_catalog.pg_namespace n
    where r.rolname = '${grantee}' and n.nspname = '${schema}'), false)`

const schema = (name: string): Migration =>
  migration(
    `schema ${name}`,
    `exists (select from pg_catalog.pg_namespace where nspname = '${name}')`,
    `create schema if not exists ${name}`,
    creatingSchema(name),
  )

const refuse: OwnFunction = {
  name: 'catalograph.refuse',
  args: 'reason text',
  returns: 'boolean',
  language: 'plpgsql',
  definer: false,
  body: ` begin raise exception using errcode = 'CG002', message = reason; end `,
}

/** In plpgsql, which keeps plans between calls. */
const current: OwnFunction = {
  name: 'catalograph.current',
  args: 'version text, holders text, held text',
  returns: 'boolean',
  language: 'plpgsql',
  definer: false,
  stable: true,
  body: currentBody,
}

const fold: OwnFunction = {
  name: 'catalograph.fold_versions',
  args: '',
  returns: 'void',
  language: 'sql',
  definer: true,
  body: foldBody,
}

const counter = (name: string, body: string, returns = 'event_trigger'): OwnFunction => ({
  name,
  args: '',
  returns,
  language: 'plpgsql',
  definer: true,
  plannedOnce: true,
  body,
})

const onCommand = counter('catalograph.count_commands', commandBody)
const onDrop = counter('catalograph.count_drops', dropBody)
const onShards = counter('catalograph.count_shards', shardBody, 'trigger')
const followShards = counter('catalograph.follow_shards', followShardsBody, 'void')

/** The schema mark, with an initial value. */
const mark: Migration = migration(
  'sequence catalograph.schema_mark',
  `${tableOid('schema_mark')} is not null`,
  `do $$ begin
  create sequence if not exists catalograph.schema_mark;
  perform pg_catalog.setval('catalograph.schema_mark', (pg_catalog.random() * 9e18)::bigint + 1);
end $$`,
)

const tables: Readonly<Record<string, string>> = {
  schema_version: 'pid int primary key, n bigint not null',
  schema_record:
    'pid int, slot int, xid xid8 not null, objects oid[], granted boolean not null, primary key (pid, slot)',
}

/** Older versions counted one for each change, and recorded no step. */
const step: Migration = migration(
  'column catalograph.schema_record.step',
  `exists (select from pg_catalog.pg_attribute a
    where a.attrelid = ${tableOid('schema_record')} and a.attname = 'step' and not a.attisdropped)`,
  'alter table catalograph.schema_record add column if not exists step bigint not null default 1',
)

/** Older versions did not distinguish a GRANT from events that name their relations. */
const unnamed: Migration = migration(
  'column catalograph.schema_record.unnamed',
  `exists (select from pg_catalog.pg_attribute a
    where a.attrelid = ${tableOid('schema_record')} and a.attname = 'unnamed' and not a.attisdropped)`,
  'alter table catalograph.schema_record add column if not exists unnamed boolean not null default true',
)

/** Requests check the counter as their role, hence PUBLIC. The login role reads changes; oids are not secret. */
const publicRights: readonly Migration[] = [
  migration(
    'usage on schema catalograph',
    `exists (select from pg_catalog.pg_namespace n where n.nspname = 'catalograph'
      and ${publicHas('n.nspacl', 'n', 'n.nspowner', 'USAGE')})`,
    'grant usage on schema catalograph to public',
  ),
  ...Object.keys(tables).map((table) =>
    migration(
      `select on catalograph.${table}`,
      `exists (select from pg_catalog.pg_class c where c.oid = ${tableOid(table)}
      and ${publicHas('c.relacl', 'r', 'c.relowner', 'SELECT')})`,
      `grant select on catalograph.${table} to public`,
    ),
  ),
  migration(
    'select on catalograph.schema_mark',
    `exists (select from pg_catalog.pg_class c where c.oid = ${tableOid('schema_mark')}
      and ${publicHas('c.relacl', 's', 'c.relowner', 'SELECT')})`,
    'grant select on sequence catalograph.schema_mark to public',
  ),
  ...[current, refuse, fold].map((fn) =>
    migration(
      `execute on ${fn.name}`,
      `exists (select from pg_catalog.pg_proc p where p.oid = ${ownOid(fn)}
      and ${publicHas('p.proacl', 'f', 'p.proowner', 'EXECUTE')})`,
      `grant execute on function ${signature(fn)} to public`,
    ),
  ),
]

/** After the functions that it stands for. */
const number: Migration = migration(
  'number of the preparation',
  `${recordedNumber} >= ${preparationNumber}`,
  `comment on schema catalograph is 'preparation ${preparationNumber}'`,
)

/** ALWAYS, so that changes under session_replication_role = replica count too (manual, ALTER EVENT TRIGGER). */
const eventTrigger = (event: string, fn: OwnFunction): Migration => {
  const name = `catalograph_${event}`
  return {
    id: `event trigger ${name}`,
    isApplied: `exists (select from pg_catalog.pg_event_trigger
      where evtname = '${name}' and evtenabled = 'A' and evtfoid = ${ownOid(fn)})`,
    sql: `do $$ begin
  drop event trigger if exists ${name};
  create event trigger ${name} on ${event} execute function ${signature(fn)};
  alter event trigger ${name} enable always;
end $$`,
    onlyFollowing: true,
    obstacle: null,
  }
}

/** Citus distributes tables without an event. */
const shardTrigger: Migration = {
  id: 'trigger on pg_dist_object',
  isApplied: isFollowingShards,
  sql: `select ${followShards.name}()`,
  onlyFollowing: true,
  obstacle: null,
}

// --- Schema auth: what policies ask. Functions of these names that exist belong to others and stay as they are.

const authFunction = (name: string, returns: string, expression: string): Migration =>
  migration(
    `function auth.${name}`,
    `${functionOid(`auth.${name}`, '')} is not null`,
    `create function auth.${name}() returns ${returns} language sql stable as ${literal(` select ${expression} `)}`,
    creatingInAuth,
  )

const claims = `nullif(pg_catalog.current_setting('request.jwt.claims', true), '')`

const authFunctions: readonly Migration[] = [
  authFunction('uid', 'uuid', `(${claims}::jsonb ->> 'sub')::uuid`),
  authFunction('jwt', 'jsonb', `${claims}::jsonb`),
  authFunction('role', 'text', `${claims}::jsonb ->> 'role'`),
  authFunction('email', 'text', `${claims}::jsonb ->> 'email'`),
]

const authUsage = (grantee: string): Migration =>
  migration(
    `usage on schema auth for ${grantee}`,
    schemaPrivilege(grantee, 'auth'),
    `grant usage on schema auth to ${grantee}`,
    grantingAuthUsage(grantee),
  )

const authExecute =
  (name: string) =>
  (grantee: string): Migration =>
    migration(
      `execute on auth.${name} for ${grantee}`,
      `coalesce((select pg_catalog.has_function_privilege(r.oid, ${functionOid(`auth.${name}`, '')}, 'EXECUTE')
      from pg_catalog.pg_roles r where r.rolname = '${grantee}'), false)`,
      `grant execute on function auth.${name}() to ${grantee}`,
      grantingAuthExecute(name, functionOid(`auth.${name}`, ''), grantee),
    )

/** `login`: the login role of requests, which must become the others. */
export const migrationsFor = (login: string): readonly Migration[] => [
  ...apiRoles.map(role),
  ...apiRoles.map(membership(login)),
  schema('catalograph'),
  ...Object.entries(tables).map(([name, columns]) => ownTable(name, columns)),
  step,
  unnamed,
  mark,
  ...liveObjects,
  // Before the functions: event triggers call these as soon as they exist.
  ownersMigration,
  ...liveNeeds(login),
  ...[current, refuse, fold, onShards, followShards, onCommand, onDrop].map(ownFunction),
  ...publicRights,
  number,
  schema('auth'),
  ...authFunctions,
  ...apiRoles.map(authUsage),
  ...['uid', 'jwt', 'role', 'email'].flatMap((name) => apiRoles.map(authExecute(name))),
  ownersMigration,
  eventTrigger('ddl_command_end', onCommand),
  eventTrigger('sql_drop', onDrop),
  shardTrigger,
]
