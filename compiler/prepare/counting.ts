/**
 * How schema changes are counted: bodies of the functions behind the event triggers (PostgreSQL manual, chapter 40;
 * engine-room 5.2 and 5.3).
 *
 * Every backend counts in a row of its own, so that no DDL waits for another one's commit, a rolled-back change counts
 * for nothing, and whoever sees the sum sees the catalogue that belongs to it.
 */

const ignoredKinds = [
  'STATISTICS',
  'PUBLICATION',
  'SUBSCRIPTION',
  'TEXT SEARCH CONFIGURATION',
  'TEXT SEARCH DICTIONARY',
]

/**
 * Commands after which no API can look different. Event triggers do not fire for roles, TRUNCATE, ANALYZE and the
 * like.
 */
const ignoredTags = [
  'REFRESH MATERIALIZED VIEW',
  'REINDEX',
  'SECURITY LABEL',
  ...ignoredKinds.flatMap((kind) => [`CREATE ${kind}`, `ALTER ${kind}`, `DROP ${kind}`]),
]

/** What DROP TABLE and the like drop along with the object that counts. */
const partTypes = ['default value', 'trigger', 'policy', 'rule', 'statistics object', 'publication relation']

const list = (texts: readonly string[]): string => texts.map((text) => `'${text}'`).join(', ')

/** The setting tells the rest of the transaction that the change it will see is its own (runtime/db/transaction.ts). */
const bump = `insert into catalograph.schema_version as v (pid, n) values (pg_backend_pid(), 1)
      on conflict (pid) do update set n = v.n + 1;
    perform pg_catalog.set_config('catalograph.changed', 'on', true);`

/**
 * ddl_command_end. Temporary objects name the schema pg_temp, or stand "on pg_temp.x" where they have no schema; GRANT
 * and REVOKE name nothing at all. Among indexes only unique ones matter: they are keys. Commands that drop report
 * nothing here, except DROP OWNED, which may have revoked grants and is told by its tag alone.
 */
export const commandBody = `
begin
  if tg_tag in (${list(ignoredTags)}) then return; end if;
  if tg_tag = 'DROP OWNED' or exists (
    select from pg_catalog.pg_event_trigger_ddl_commands() c
    where c.command_tag not in (${list(ignoredTags)})
      and c.schema_name is distinct from 'pg_temp'
      and coalesce(c.object_identity, '') not like '% on pg\\_temp.%'
      and (c.object_type <> 'index' or exists (
        select from pg_catalog.pg_index i where i.indexrelid = c.objid and i.indisunique))
  ) then
    ${bump}
  end if;
end
`

/**
 * sql_drop. Parts of a dropped object come with it; alone they count when they were dropped by a command of their own.
 * Parts of temporary tables do not always say is_temporary, but their address begins with pg_temp.
 */
export const dropBody = `
begin
  if tg_tag in (${list(ignoredTags)}) then return; end if;
  if exists (
    select from pg_catalog.pg_event_trigger_dropped_objects() d
    where not d.is_temporary
      and d.address_names[1] is distinct from 'pg_temp'
      and (d.object_type not in (${list(partTypes)}) or tg_tag in ('DROP TRIGGER', 'DROP POLICY', 'DROP RULE'))
  ) then
    ${bump}
  end if;
end
`

/**
 * Folds the rows of many backends into row 0; the sum stays. Rows that an open transaction holds are left for later, so
 * that nobody waits.
 */
export const foldBody = `
  with folded as (
    delete from catalograph.schema_version
    where pid in (select pid from catalograph.schema_version where pid <> 0 for update skip locked)
    returning n
  )
  insert into catalograph.schema_version as v (pid, n)
  select 0, pg_catalog.sum(n)::bigint from folded having pg_catalog.count(*) > 0
  on conflict (pid) do update set n = v.n + excluded.n
`
