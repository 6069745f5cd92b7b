import { armedLock, leaderLock, noRelation, restingLock, wakeChannel } from '../../../runtime/db/check/live-locks.ts'
import { plpgsql } from './live-bodies.ts'
import type { OwnFunction } from './migration.ts'

/** Installs the triggers of live relations, and updates them when the schema changes (docs/live.md). */

/** Why triggers cannot report the changes of a tree, apart from locks; null: they can. */
const hindrance = plpgsql(
  'live_hindrance',
  'root oid',
  'text',
  `
declare
  found boolean;
begin
  if exists (select from catalograph.live_tree(root) t (member) join pg_class c on c.oid = t.member
    where c.relkind not in ('r', 'p') or c.relpersistence = 't' or c.relnamespace = 'pg_catalog'::regnamespace) then
    return 'kind';
  end if;
  if exists (select from catalograph.live_tree(root) t (member) join pg_subscription_rel s on s.srrelid = t.member) then
    return 'replicated';
  end if;
  if to_regclass('pg_catalog.pg_dist_partition') is not null then
    execute 'select exists (select from catalograph.live_tree($1) t (member)
      join pg_catalog.pg_dist_partition d on d.logicalrelid = t.member)' into found using root;
    if found then return 'distributed'; end if;
  end if;
  if exists (select from catalograph.live_tree(root) t (member) join pg_class c on c.oid = t.member
    where not pg_has_role(c.relowner, 'usage')) then
    return 'refused';
  end if;
  return null;
end
`,
)

/** Adds missing parts of a relation's trees, and removes others. CG004: the relation cannot be live. */
const install = plpgsql(
  'live_install',
  'relation oid',
  'void',
  `
declare
  root oid;
  member oid;
  operation text;
  called text;
  called_by text;
  made boolean := false;
  source text;
  transition text;
begin
  perform pg_advisory_xact_lock_shared(${restingLock});
  for root in select * from catalograph.live_tops(relation) loop
    source := catalograph.live_hindrance(root);
    if source is not null then raise exception using errcode = 'CG004', message = source; end if;
    perform set_config('catalograph.live_installing', 'on', true);
    if to_regclass('catalograph.live_' || root) is null then
      execute format('create sequence catalograph.live_%s minvalue 0 start 0', root);
      execute format('grant select on sequence catalograph.live_%s to public', root);
      perform setval(('catalograph.live_' || root)::regclass, 0);
    end if;
    foreach operation in array array['insert', 'update', 'delete', 'truncate'] loop
      called := format('catalograph.live_%s_%s', root, operation);
      source := catalograph.live_body(root, operation);
      if not exists (select from pg_proc p where p.oid = to_regprocedure(called || '()') and p.prosrc = source) then
        made := true;
        execute format('create or replace function %s() returns trigger language plpgsql security definer as %L',
          called, source);
        execute format('revoke all on function %s() from public', called);
      end if;
      transition := case operation when 'insert' then 'referencing new table as new_rows'
        when 'delete' then 'referencing old table as old_rows'
        when 'update' then 'referencing old table as old_rows new table as new_rows' else '' end;
      for member in select * from catalograph.live_tree(root) loop
        continue when exists (select from pg_trigger t where t.tgrelid = member and t.tgenabled = 'A'
          and t.tgfoid = to_regprocedure(called || '()'));
        made := true;
        called_by := format('catalograph_live_%s_%s', operation, root);
        if exists (select from pg_trigger t where t.tgrelid = member and t.tgname = called_by) then
          execute format('drop trigger %I on %s', called_by, member::regclass);
        end if;
        execute format('create trigger %I after %s on %s %s for each statement when (
          pg_catalog.pg_sequence_last_value(%L::pg_catalog.regclass) operator(pg_catalog.>) 0) execute function %s()',
          called_by, operation, member::regclass, transition, 'catalograph.live_' || root, called);
        execute format('alter table only %s enable always trigger %I', member::regclass, called_by);
      end loop;
    end loop;
    perform catalograph.live_drop_triggers(root, array(select * from catalograph.live_tree(root)));
    perform set_config('catalograph.live_installing', 'off', true);
  end loop;
  if made then perform catalograph.live_tell(${noRelation.schema}); end if;
end
`,
)

/** Drops the triggers of a root on all relations but some, and ours without a known root on these. */
const dropTriggers = plpgsql(
  'live_drop_triggers',
  'root oid, members oid[]',
  'void',
  `
declare
  t record;
begin
  for t in select g.tgname, g.tgrelid::regclass as place
    from pg_trigger g join pg_proc p on p.oid = g.tgfoid
    where g.tgname like 'catalograph\\_live\\_%' and p.pronamespace = 'catalograph'::regnamespace
      and case when p.proname like format('live\\_%s\\_%%', root) then g.tgrelid <> all (members)
        else g.tgrelid = any (members) and not exists (
          select from catalograph.live_tops(g.tgrelid) o (root) where p.proname like format('live\\_%s\\_%%', o.root)) end
  loop
    execute format('drop trigger %I on %s', t.tgname, t.place);
  end loop;
end
`,
)

/** For other changes than those of relations; CG003 does not occur without a gate of `noRelation`. */
const recordOther = plpgsql(
  'live_tell',
  'what oid',
  'void',
  `
begin
  if pg_try_advisory_xact_lock_shared(${armedLock}) then
    begin
      if pg_try_advisory_xact_lock_shared(${leaderLock}) then raise exception using errcode = 'CG003'; end if;
    exception when sqlstate 'CG003' then return;
    end;
  else
    perform pg_notify('${wakeChannel}', '');
  end if;
  insert into catalograph.live_changes (xid, relation, touched) values (pg_current_xact_id(), what, '{}');
end
`,
)

/** Drops all parts of a root; without the privilege the error reports \`what stays\`. */
const remove = plpgsql(
  'live_remove',
  'root oid',
  'void',
  `
declare
  operation text;
begin
  perform set_config('catalograph.live_installing', 'on', true);
  perform catalograph.live_drop_triggers(root, '{}');
  foreach operation in array array['insert', 'update', 'delete', 'truncate'] loop
    execute format('drop function if exists catalograph.live_%s_%s()', root, operation);
  end loop;
  execute format('drop sequence if exists catalograph.live_%s', root);
  perform set_config('catalograph.live_installing', 'off', true);
  perform catalograph.live_tell(${noRelation.schema});
end
`,
)

/** Makes the functions of a root do nothing, which needs no privilege on its tables. */
const silence = plpgsql(
  'live_silence',
  'root oid',
  'void',
  `
declare
  operation text;
begin
  foreach operation in array array['insert', 'update', 'delete', 'truncate'] loop
    execute format('create or replace function catalograph.live_%s_%s() returns trigger language plpgsql
      security definer as $$ begin return null; end $$', root, operation);
  end loop;
end
`,
)

const roots = plpgsql(
  'live_roots',
  '',
  'setof oid',
  ` begin return query select substr(c.relname, 6)::oid from pg_class c
  where c.relnamespace = 'catalograph'::regnamespace and c.relkind = 'S' and c.relname ~ '^live_[0-9]+$'; end `,
)

/**
 * Called by the event triggers with the changed objects, null: any. A trigger function names columns, so it is replaced
 * in the transaction that changes them. If that fails, the relation is no longer live; the command of the owner does
 * not fail.
 */
const follow = plpgsql(
  'live_follow',
  'changed oid[]',
  'void',
  `
declare
  root oid;
begin
  if current_setting('catalograph.live_installing', true) = 'on' then return; end if;
  -- Once in a transaction.
  if coalesce(current_setting('catalograph.changed', true), '') = '' then
    perform catalograph.live_tell(${noRelation.schema});
  end if;
  if changed <@ '{0}' then return; end if;
  for root in select r.root from catalograph.live_roots() r (root)
    where changed is null or r.root = any (changed)
      or exists (select from unnest(changed) c (oid), catalograph.live_tops(c.oid) o (root) where o.root = r.root)
      or exists (select from pg_trigger g join pg_proc p on p.oid = g.tgfoid
        where g.tgrelid = any (changed) and p.pronamespace = 'catalograph'::regnamespace
          and p.proname like format('live\\_%s\\_%%', r.root))
  loop
    begin
      if exists (select from pg_class c where c.oid = root) then perform catalograph.live_install(root);
      else perform catalograph.live_remove(root);
      end if;
    exception when others then
      begin
        perform catalograph.live_silence(root);
        perform catalograph.live_remove(root);
      exception when others then perform catalograph.live_silence(root);
      end;
    end;
  end loop;
exception when others then
  raise warning 'catalograph: % (%)', sqlerrm, sqlstate;
end
`,
)

export const triggerFunctions: readonly OwnFunction[] = [
  hindrance,
  dropTriggers,
  install,
  roots,
  silence,
  remove,
  recordOther,
  follow,
]
