import { foundChannel, gateLock, leaderLock, noRelation, watchLocks } from '../../../runtime/db/check/live-locks.ts'
import { plpgsql } from './live-bodies.ts'
import { liveInstalled } from './live-installed.ts'
import type { OwnFunction } from './migration.ts'

/** The functions for the processes that read changes, as the login role (docs/live.md). */

/** Locks of statements that change rows of a relation, or that forbid such statements. */
const writing = ['RowExclusiveLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock']

/**
 * Opens gates: \`wanted\` is a list of {schema, name, columns}. Each item is returned with the roots of its trees, null
 * if they are not installed, and with the transactions that may have changed rows before the gates were open. CG005:
 * there is no leader, so the gates would close again.
 */
const watch = plpgsql(
  'live_watch',
  'wanted json',
  'table (item int, roots oid[], holders text[])',
  `
declare
  w record;
  root oid;
  gate regclass;
  mask bigint;
  held oid[] := array(select l.objid from pg_locks l where l.locktype = 'advisory' and l.classid = ${watchLocks}
    and l.pid = pg_backend_pid() and l.granted);
begin
  perform pg_advisory_xact_lock(${gateLock});
  for w in select e.ordinality::int as item, c.oid, e.value -> 'columns' as columns
    from json_array_elements(wanted) with ordinality e
    left join pg_namespace n on n.nspname = e.value ->> 'schema'
    left join pg_class c on c.relnamespace = n.oid and c.relname = e.value ->> 'name'
  loop
    item := w.item;
    roots := null;
    holders := '{}';
    if w.oid is not null and ${liveInstalled('w.oid')} then
      roots := array(select * from catalograph.live_tops(w.oid));
      foreach root in array roots loop
        if root <> all (held) then
          perform pg_advisory_lock_shared(${watchLocks}, root::int);
          held := held || root;
        end if;
        gate := ('catalograph.live_' || root)::regclass;
        mask := pg_sequence_last_value(gate) | 1 | coalesce((
          select bit_or(1::bigint << p.attnum) from catalograph.live_pinnable(root) p
          where p.attname in (select json_array_elements_text(w.columns))), 0);
        if mask <> pg_sequence_last_value(gate) then perform setval(gate, mask); end if;
      end loop;
      holders := array(select distinct l.virtualtransaction from pg_locks l
        where l.locktype = 'relation' and l.granted and l.pid <> pg_backend_pid()
          and l.database = (select d.oid from pg_database d where d.datname = current_database())
          and l.mode = any ('{${writing.join()}}')
          and l.relation in (select t.member from unnest(roots) r (root), catalograph.live_tree(r.root) t (member)));
    end if;
    return next;
  end loop;
  if pg_try_advisory_xact_lock_shared(${leaderLock}) then
    raise exception using errcode = 'CG005', message = 'nobody leads';
  end if;
end
`,
)

/** Closes a gate that no process watches. A session's own lock does not conflict. */
const closeGate = plpgsql(
  'live_close',
  'root oid',
  'void',
  `
begin
  if to_regclass('catalograph.live_' || root) is null
    or pg_sequence_last_value(('catalograph.live_' || root)::regclass) = 0
    or exists (select from pg_locks l where l.locktype = 'advisory' and l.classid = ${watchLocks}
      and l.objid = root and l.pid = pg_backend_pid()) then return; end if;
  if pg_try_advisory_xact_lock(${watchLocks}, root::int) then
    perform setval(('catalograph.live_' || root)::regclass, 0);
  end if;
end
`,
)

const unwatch = plpgsql(
  'live_unwatch',
  'given oid[]',
  'void',
  `
declare
  root oid;
begin
  foreach root in array given loop
    perform pg_advisory_unlock_shared(${watchLocks}, root::int);
    perform catalograph.live_close(root);
  end loop;
end
`,
)

/** Informs the other processes of the leader; they open their gates again. */
const lead = plpgsql(
  'live_lead',
  '',
  'void',
  `
begin
  insert into catalograph.live_changes (xid, relation, touched) values (pg_current_xact_id(), ${noRelation.leader}, '{}');
  perform pg_notify('${foundChannel}', '');
end
`,
)

/**
 * Deletes changes that are visible in a snapshot that every process had time to pass, and records the snapshot. Closes
 * gates that a crashed process left open.
 */
const prune = plpgsql(
  'live_prune',
  'past text',
  'void',
  `
declare
  root oid;
begin
  delete from catalograph.live_changes c
  where c.xid < pg_snapshot_xmax(past::pg_snapshot) and pg_visible_in_snapshot(c.xid, past::pg_snapshot);
  if found then
    delete from catalograph.live_pruned;
    insert into catalograph.live_pruned (past) values (past::pg_snapshot);
  end if;
  for root in select * from catalograph.live_roots() loop perform catalograph.live_close(root); end loop;
end
`,
)

/** All except the one that only the others call. */
export const processFunctions: readonly OwnFunction[] = [watch, unwatch, lead, prune]
export const feedFunctions: readonly OwnFunction[] = [closeGate, ...processFunctions]
