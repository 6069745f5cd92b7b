import { restingLock } from '../../../runtime/db/check/live-locks.ts'

/**
 * Counting schema changes: bodies of the functions behind the event triggers (PostgreSQL manual, chapter 40; engine.md
 * 3 and 4).
 *
 * Every backend counts in its own row, so that no DDL waits for another's commit, a rolled-back change does not
 * count, and a snapshot that sees the sum sees its catalogue. Beside the count it records the changed objects in its
 * own ring of rows: a reader that finds fewer records than changes compares everything. And it sets the schema mark
 * (runtime/db/check/schema-marks.ts). A transaction counts once, and its further changes add to its record.
 *
 * A promoted server may lack the last counts of its predecessor. So that two histories do not meet at the same sum,
 * each change adds a random number, its step; the records contain it.
 */

const ignoredKinds = [
  'STATISTICS',
  'PUBLICATION',
  'SUBSCRIPTION',
  'TEXT SEARCH CONFIGURATION',
  'TEXT SEARCH DICTIONARY',
]

/** Commands that cannot change an API. Event triggers do not fire for roles, TRUNCATE, ANALYZE and the like. */
const ignoredTags = [
  'REFRESH MATERIALIZED VIEW',
  'REINDEX',
  'SECURITY LABEL',
  ...ignoredKinds.flatMap((kind) => [`CREATE ${kind}`, `ALTER ${kind}`, `DROP ${kind}`]),
]

/** Parts that DROP TABLE and the like drop with the counted object. */
const partTypes = ['default value', 'trigger', 'policy', 'rule', 'statistics object', 'publication relation']

/** The number of recorded transactions per backend, and of all after pruning. */
const recordsPerBackend = 64
const recordsKept = 256

/** The changes of a transaction whose objects are recorded; with more of them the objects are unknown. */
const changesRecorded = 32

/** A power of 2. The counter has room for a thousand million changes. */
const differentSteps = 2 ** 28

const list = (texts: readonly string[]): string => texts.map((text) => `'${text}'`).join(', ')

/**
 * Commands whose events name all changed relations, with their parts, all functions, and new types; other changes of
 * types and of schemas are found without that (compiler/catalog/queries.ts). After other commands the reader compares
 * everything.
 */
const recordedTags = [
  ...['TABLE', 'VIEW', 'MATERIALIZED VIEW', 'SEQUENCE', 'FUNCTION', 'PROCEDURE', 'POLICY', 'TRIGGER'].flatMap((kind) =>
    ['CREATE', 'ALTER', 'DROP'].map((verb) => `${verb} ${kind}`),
  ),
  ...['CREATE TABLE AS', 'SELECT INTO', 'CREATE INDEX', 'CREATE TYPE', 'CREATE DOMAIN', 'ALTER TYPE', 'COMMENT'],
  ...['CREATE SCHEMA', 'DROP SCHEMA', 'GRANT', 'REVOKE', 'ALTER DEFAULT PRIVILEGES'],
]

/** Kinds of objects in events of GRANT that have no columns. */
const withoutColumns = ['FUNCTION', 'PROCEDURE', 'ROUTINE', 'SCHEMA', 'SEQUENCE', 'TYPE', 'DOMAIN', 'LANGUAGE']

/** Catalogues of the objects that such commands report; a GRANT reports no object. */
const recordedClasses = [
  ...['pg_class', 'pg_constraint', 'pg_attrdef', 'pg_proc', 'pg_type', 'pg_namespace', 'pg_policy', 'pg_trigger'],
  ...['pg_rewrite', 'pg_statistic_ext', 'pg_publication_rel'],
]

/**
 * In the place of an object that is not among these classes, or has no name: a reader finds it without that, and knows from it that
 * not only relations changed.
 */
const unnamedObject = "'0'::pg_catalog.oid"
const onlyUnnamed = `array[${unnamedObject}]`

/** Catalogues of a relation's parts with their own names. */
const partClasses = ['pg_constraint', 'pg_attrdef', 'pg_trigger', 'pg_policy', 'pg_rewrite']

const classes = (names: readonly string[]): string =>
  names.map((name) => `'pg_catalog.${name}'::pg_catalog.regclass`).join(', ')

/** The relations to which steps of inheritance lead from the changed ones, as an array. */
const kin = (from: 'inhrelid' | 'inhparent', to: 'inhrelid' | 'inhparent'): string => `array(
          with recursive kin (oid) as (
            select i.${to} from pg_catalog.pg_inherits i where i.${from} = any (changed)
            union select i.${to} from kin k join pg_catalog.pg_inherits i on i.${from} = k.oid)
          select k.oid from kin k)`

/**
 * The record of a change: the objects, or null if they are unknown; whether there are relations among them that the
 * event does not name, as after a GRANT, and whether columns were granted. A step is one more than a multiple of the
 * slots, so that each change of a backend has the next slot; it comes from a source that setseed() does not affect.
 * A command on a relation may change those that inherit from it, and what is known of those that it inherits from. ALTER TABLE of
 * a partitioned one is unknown: it may detach a partition, which then is not below it.
 *
 * A new type of a column makes Postgres create the foreign keys that refer to it again, without an event: those written
 * by this transaction are looked up. The setting marks the change as its own for the rest of the transaction
 * (runtime/db/check/transaction.ts): \`all\` where nothing is left to record. A rollback to a savepoint takes it back with the record.
 */
const record = (
  columns: string,
  unnamed: string,
  alters: string,
): string => `if pg_catalog.current_setting('transaction_isolation') not in ('read committed', 'read uncommitted') then
      changed := null;
    elsif not changed <@ ${onlyUnnamed} then
      if ${alters} and exists (select from pg_catalog.pg_class c where c.oid = any (changed) and c.relkind = 'p') then
        changed := null;
      else
        changed := changed || ${kin('inhrelid', 'inhparent')} || ${kin('inhparent', 'inhrelid')};
        changed := changed || array(
          select k.conrelid from pg_catalog.pg_depend d join pg_catalog.pg_constraint k on k.oid = d.objid
          where d.refclassid = ${classes(['pg_class'])} and d.refobjid = any (changed)
            and d.classid = ${classes(['pg_constraint'])} and k.contype = 'f'
            and pg_catalog.age(k.xmin) <= pg_catalog.age(pg_catalog.pg_current_xact_id()::pg_catalog.xid));
      end if;
    end if;
    if pg_catalog.current_setting('catalograph.changed', true) = 'on' then
      step := 1 + coalesce(nullif(pg_catalog.current_setting('catalograph.changes', true), ''), '1')::bigint;
      perform pg_catalog.set_config('catalograph.changes', step::text, true);
      if step > ${changesRecorded} then changed := null; end if;
      update catalograph.schema_record r
      set objects = case when changed is null or r.objects is null then null
          when r.objects @> changed then r.objects else r.objects || changed end,
        granted = r.granted or ${columns}, unnamed = r.unnamed or ${unnamed}
      where r.pid = pg_backend_pid() and r.xid = pg_current_xact_id();
      is_recorded := found;
    end if;
    if is_recorded then
      -- Under a lock that no table becomes live beside: the triggers of live tables follow each change.
      if changed is null and not exists (select from catalograph.live_roots()) then
        if pg_catalog.pg_try_advisory_xact_lock(${restingLock}) and not exists (select from catalograph.live_roots()) then
          perform pg_catalog.set_config('catalograph.changed', 'all', true);
        end if;
      end if;
    else
    drawn := pg_catalog.hashtextextended(pg_catalog.gen_random_uuid()::text, 0);
    step := 1 + ${recordsPerBackend}::bigint * (drawn & ${differentSteps - 1});
    insert into catalograph.schema_version as v (pid, n) values (pg_backend_pid(), step)
      on conflict (pid) do update set n = v.n + excluded.n returning n into counted;
    insert into catalograph.schema_record as r (pid, slot, xid, objects, granted, unnamed, step)
      values (pg_backend_pid(), counted % ${recordsPerBackend}, pg_current_xact_id(), changed,
        ${columns}, ${unnamed}, step)
      on conflict (pid, slot) do update
      set xid = excluded.xid, objects = excluded.objects, granted = excluded.granted, unnamed = excluded.unnamed,
        step = excluded.step;
    perform pg_catalog.setval('catalograph.schema_mark', greatest(drawn & 9223372036854775807, 1));
    perform pg_catalog.set_config('catalograph.changed', 'on', true);
    end if;`

/** The facts of an event, as SQL over the rows of `from`. */
interface EventFacts {
  /** Whether an API may change. */
  readonly counts: string
  /** Whether the changed objects are known. */
  readonly known: string
  /** Whether privileges on an object with columns may have changed. */
  readonly grants: string
  /** The events, one row each; `object.oid` is the object. */
  readonly from: string
}

const shardTrigger = 'catalograph_shards'

/** SQL of type boolean: Citus is absent, or its distributed objects are counted. */
export const isFollowingShards = `not exists (
    select from pg_catalog.pg_class c where c.relnamespace = 'pg_catalog'::pg_catalog.regnamespace
      and c.relname = 'pg_dist_object' and not exists (
        select from pg_catalog.pg_trigger t where t.tgrelid = c.oid and t.tgname = '${shardTrigger}' and t.tgenabled = 'A'))`

/**
 * Whether columns may have been granted, which does not change their relation's row. Column lists are in parentheses,
 * and a top-level command is the whole text of the query.
 */
const mayNameColumns = `(pg_catalog.strpos(context, E'\\n') > 0
      or coalesce(pg_catalog.current_query(), '') !~* '^\\s*(grant|revoke)\\s[^;(]*;?\\s*$')`

/**
 * A GRANT on a schema makes Postgres plan everything again that a session has planned (PlanCacheSysCallback), so that few and small
 * statements run for it. Its events name no objects; those on the functions and sequences of live triggers are of no API.
 */
const countingBody = ({ counts, known, grants, from }: EventFacts): string => `
declare
  counted bigint;
  drawn bigint;
  step bigint;
  counts boolean;
  has_grants boolean;
  may_name_columns boolean := false;
  is_recorded boolean := false;
  context text;
  changed oid[];
begin
  if pg_catalog.current_setting('catalograph.changed', true) = 'all' and tg_tag <> 'CREATE EXTENSION' then return; end if;
  if tg_tag in (${list(ignoredTags)}) then return; end if;
  if tg_tag = 'CREATE EXTENSION' then perform catalograph.follow_shards(); end if;
  if tg_tag in ('GRANT', 'REVOKE') then
    counts := true;
    select ${grants} into has_grants from pg_catalog.pg_event_trigger_ddl_commands() c;
    changed := case when has_grants or pg_catalog.current_setting('catalograph.live_installing', true) = 'on' then '{}'
      else ${onlyUnnamed} end;
  else
    select ${counts},
      case when tg_tag in (${list(recordedTags)})${known}
      then coalesce(pg_catalog.array_agg(distinct object.oid), '{}') end,
      ${grants}
    into counts, changed, has_grants
    from ${from};
  end if;
  if counts then
    perform catalograph.live_follow(changed);
    if has_grants then
      get diagnostics context = pg_context;
      may_name_columns := ${mayNameColumns};
    end if;
    ${record('may_name_columns', 'has_grants', "tg_tag = 'ALTER TABLE'")}
  end if;
end
`

/** Citus distributes tables without an event, but writes to pg_dist_object. The objects are unknown. */
export const shardBody = `
declare
  counted bigint;
  drawn bigint;
  step bigint;
  is_recorded boolean := false;
  changed oid[];
begin
  perform catalograph.live_follow(null);
  ${record('false', 'false', 'false')}
  return null;
end
`

/** With Citus: counts the statements on its list of distributed objects. Without the privilege: nothing. */
export const followShardsBody = `
begin
  if ${isFollowingShards} then return; end if;
  create or replace trigger ${shardTrigger} after insert or update or delete on pg_catalog.pg_dist_object
    for each statement execute function catalograph.count_shards();
  alter table pg_catalog.pg_dist_object enable always trigger ${shardTrigger};
exception when insufficient_privilege then null;
end
`

/**
 * ddl_command_end. Temporary objects name the schema pg_temp, or are "on pg_temp.x" if they have no schema; GRANT and
 * REVOKE name nothing. Among indexes only unique ones matter: they are keys. Commands that drop report nothing here,
 * except DROP OWNED, which may have revoked grants and is known by its tag alone. Changes of a relation's part, a
 * policy or a sequence that it owns count for the relation; an oid does not show its catalogue, so it may cause one
 * more read. An altered sequence may have had another owner, which the reader knows by the sequence's own oid. A comment on a
 * part may be a setting in the wrong place, which says nothing of the relation.
 *
 * A table of a composite type changes with it, so of ALTER TYPE only changes of enums name their relations.
 */
export const commandBody = countingBody({
  counts: "pg_catalog.count(*) > 0 or tg_tag = 'DROP OWNED'",
  known: `
      and pg_catalog.bool_and(c.classid is null or c.classid in (${classes(recordedClasses)}))
      and (tg_tag <> 'ALTER TYPE' or pg_catalog.bool_and(exists (
        select from pg_catalog.pg_type t where t.oid = c.objid and t.typtype = 'e')))`,
  // CREATE SCHEMA may contain grants.
  grants: `coalesce(pg_catalog.bool_or(c.command_tag in ('GRANT', 'REVOKE')
      and coalesce(c.object_type not in (${list(withoutColumns)}), true)), false)`,
  from: `pg_catalog.pg_event_trigger_ddl_commands() c
  cross join lateral (select coalesce(case c.classid
    when ${classes(['pg_class'])} then coalesce(
      (select i.indrelid from pg_catalog.pg_index i where i.indexrelid = c.objid),
      (select o.refobjid from pg_catalog.pg_depend o where o.classid = c.classid and o.refclassid = c.classid
        and o.objid = c.objid and o.deptype = 'a' and c.object_type = 'sequence'), c.objid)
    when ${classes(['pg_constraint'])} then
      (select k.conrelid from pg_catalog.pg_constraint k where k.oid = c.objid)
    when ${classes(['pg_policy'])} then (select p.polrelid from pg_catalog.pg_policy p where p.oid = c.objid)
    when ${classes(['pg_trigger'])} then (select t.tgrelid from pg_catalog.pg_trigger t where t.oid = c.objid)
    when ${classes(['pg_rewrite'])} then (select r.ev_class from pg_catalog.pg_rewrite r where r.oid = c.objid)
    when ${classes(['pg_attrdef'])} then (select a.adrelid from pg_catalog.pg_attrdef a where a.oid = c.objid)
    when ${classes(['pg_proc'])} then c.objid
    when ${classes(['pg_type'])} then c.objid
    end, ${unnamedObject}) as oid
    union all select c.objid where c.object_type = 'sequence'
    union all select ${unnamedObject}
      where tg_tag = 'COMMENT' and (c.classid <> ${classes(['pg_class'])} or c.object_type = 'index')) object
  where c.command_tag not in (${list(ignoredTags)})
    and c.schema_name is distinct from 'pg_temp'
    and c.schema_name is distinct from 'catalograph'
    and coalesce(c.object_identity, '') not like '% on pg\\_temp.%'
    and (c.object_type <> 'index' or exists (
      select from pg_catalog.pg_index i where i.indexrelid = c.objid and i.indisunique))`,
})

/**
 * sql_drop. Parts of a dropped object are reported with it; alone they count if a separate command dropped them. Parts
 * of temporary tables do not always have is_temporary, but their address begins with pg_temp. The relation of a dropped
 * part is known by the names in its address; those of a domain's constraint name none.
 */
export const dropBody = countingBody({
  counts: `coalesce(pg_catalog.bool_or(d.object_type not in (${list(partTypes)})
      or tg_tag in ('DROP TRIGGER', 'DROP POLICY', 'DROP RULE')), false)`,
  known: ` and pg_catalog.bool_and(d.classid in (${classes(recordedClasses)}) and d.object_type <> 'domain constraint')`,
  grants: 'false',
  from: `pg_catalog.pg_event_trigger_dropped_objects() d
  cross join lateral (select coalesce(case
    when d.classid in (${classes(['pg_class', 'pg_proc', 'pg_type'])}) then d.objid
    when d.classid in (${classes(partClasses)}) then
      (select c.oid from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
      where n.nspname = d.address_names[1] and c.relname = d.address_names[2])
    end, ${unnamedObject}) as oid) object
  where not d.is_temporary and d.address_names[1] is distinct from 'pg_temp'
    and d.schema_name is distinct from 'catalograph'`,
})

/**
 * Folds the rows of many backends into row 0; the sum stays. Rows that an open transaction holds are left for later,
 * without waiting. The newest records of changes are kept, except those restored from another server: a reader that has
 * not read the others compares everything.
 */
export const foldBody = `
  with folded as (
    delete from catalograph.schema_version
    where pid in (select pid from catalograph.schema_version where pid <> 0 for update skip locked)
    returning n
  )
  insert into catalograph.schema_version as v (pid, n)
  select 0, pg_catalog.sum(n)::bigint from folded having pg_catalog.count(*) > 0
  on conflict (pid) do update set n = v.n + excluded.n;
  delete from catalograph.schema_record
  where xid >= pg_catalog.pg_snapshot_xmax(pg_catalog.pg_current_snapshot()) or (pid, slot) in (select pid, slot from catalograph.schema_record
    order by xid desc offset ${recordsKept} for update skip locked)
`
