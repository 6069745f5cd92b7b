import { armedLock, leaderLock, longestValue, mostValues, wakeChannel } from '../../../runtime/db/check/live-locks.ts'
import { bodyMarkPrefix } from './live-installed.ts'
import type { OwnFunction } from './migration.ts'

/**
 * The functions of live relations' triggers (docs/live.md). A root is a relation without a parent; it has a gate, the
 * sequence catalograph.live_OID, and four trigger functions, which serve its whole tree.
 */

export const plpgsql = (name: string, args: string, returns: string, body: string): OwnFunction => ({
  name: `catalograph.${name}`,
  args,
  returns,
  language: 'plpgsql',
  definer: true,
  body,
})

/** The direct or indirect parents of a relation that have no parents themselves; or the relation. */
const tops = plpgsql(
  'live_tops',
  'relation oid',
  'setof oid',
  ` begin return query with recursive up (member) as (
    select relation
    union select i.inhparent from pg_inherits i join up on i.inhrelid = up.member)
  select up.member from up where not exists (select from pg_inherits i where i.inhrelid = up.member); end `,
)

const tree = plpgsql(
  'live_tree',
  'root oid',
  'setof oid',
  ` begin return query with recursive down (member) as (
    select root
    union select i.inhrelid from pg_inherits i join down on i.inhparent = down.member)
  select down.member from down; end `,
)

/** Types whose equal values have one text: numbers, uuid, bool, text, date, and enums. */
const pinnable = plpgsql(
  'live_pinnable',
  'root oid',
  'table (attnum int2, attname name, base oid)',
  ` begin return query with recursive basic (attnum, attname, base, typtype, further) as (
    select a.attnum, a.attname, t.oid, t.typtype, t.typbasetype
    from pg_attribute a join pg_type t on t.oid = a.atttypid
    where a.attrelid = root and a.attnum between 1 and 62 and not a.attisdropped and a.attgenerated <> 'v'
      and (a.attcollation = 0 or exists (
        select from pg_collation l where l.oid = a.attcollation and l.collisdeterministic))
    union all
    select basic.attnum, basic.attname, t.oid, t.typtype, t.typbasetype
    from basic join pg_type t on t.oid = basic.further where basic.typtype = 'd')
  select b.attnum, b.attname, b.base from basic b
  where b.typtype = 'e' or b.base in (16, 20, 21, 23, 25, 1043, 1082, 2950); end `,
)

/**
 * The end of a trigger function: wakes the leader if it sleeps. Without a leader there is no reader: the gate closes.
 * The lock of the leader is tried for a moment to find out, in one expression, which nothing interrupts; the inner
 * block, which costs more, releases the lock under which the gate closes.
 */
const wake = (gate: string): string => `
  if pg_catalog.pg_try_advisory_xact_lock_shared(${armedLock}) then
    if (case when pg_catalog.pg_try_advisory_lock_shared(${leaderLock})
      then pg_catalog.pg_advisory_unlock_shared(${leaderLock}) else false end) then
      begin
        if pg_catalog.pg_try_advisory_xact_lock_shared(${leaderLock}) then
          ${gate}
          raise exception using errcode = 'CG003';
        end if;
      exception when sqlstate 'CG003' then null;
      end;
    end if;
  else
    perform pg_catalog.pg_notify('${wakeChannel}', '');
  end if;
  return null;`

/** The number of columns per statement: expressions cost time even if their columns are not needed. */
const columnsAtOnce = 8

/** Columns for pins, with their values as text in a new row `r` and an old row `o`. */
const columns = plpgsql(
  'live_columns',
  'root oid',
  'table (attnum int2, attname name, member text, value text, old_value text, place bigint)',
  ` begin return query select p.attnum, p.attname, to_json(p.attname)::text, format(e.value, 'r', p.attname), format(e.value, 'o', p.attname),
    (row_number() over (order by p.attnum) - 1) / ${columnsAtOnce}
  from catalograph.live_pinnable(root) p cross join lateral (select case p.base
    when 16 then 'case when %1$s.%2$I then ''t'' when not %1$s.%2$I then ''f'' end'
    when 1082 then 'pg_catalog.to_json(%1$s.%2$I) operator(pg_catalog.#>>) ''{}'''
    else '%1$s.%2$I::pg_catalog.text' end as value) e; end `,
)

/**
 * Every name and operator is qualified, which is free; a search path of its own would cost each write some
 * microseconds. For a single changed row, one statement writes the change with all wanted values; its limits show the
 * planner that it is one row, else it would plan again for each mask. Values of several rows are compared in their own
 * types, and only those that differ become texts. Texts are measured first, which reads no value from its TOAST table.
 */
const body = plpgsql(
  'live_body',
  'root oid, operation text',
  'text',
  `
declare
  one text := case operation
    when 'insert' then '(select * from new_rows limit 1) r where not exists (select from new_rows offset 1)'
    when 'delete' then '(select * from old_rows limit 1) r where not exists (select from old_rows offset 1)'
    when 'update' then '(select * from old_rows limit 1) o cross join (select * from new_rows limit 1) r
        where not exists (select from old_rows offset 1)' end;
  rows text := case operation
    when 'insert' then 'new_rows'
    when 'delete' then 'old_rows'
    when 'update' then '(select o.%1$I from old_rows o union all select n.%1$I from new_rows n)' end;
  is_long text := '(pg_catalog.octet_length(%s) operator(pg_catalog.>) ${longestValue})';
  source text;
  ones text := '';
  pins text := '';
  c record;
begin
  for c in select l.place, bit_or(1::bigint << l.attnum) | 1 as mask, string_agg(format($case$,
        case when (live.mask operator(pg_catalog.&) %s) operator(pg_catalog.<>) 0%s then
          pg_catalog.concat(%L, pg_catalog.concat_ws(',', %s), ']') end$case$,
      1::bigint << l.attnum, case when p.base in (25, 1043) then format(case operation
        when 'update' then ' and (%1$s or %2$s) is not true' else ' and %1$s is not true' end,
        format(is_long, l.value), format(is_long, l.old_value)) end,
      ',' || l.member || ':[', format(case operation
        when 'update' then 'pg_catalog.to_json(%2$s), case when (%2$s) operator(pg_catalog.=) (%1$s) then null else pg_catalog.to_json(%1$s) end'
        else 'pg_catalog.to_json(%1$s)' end, l.value, l.old_value)), '' order by l.attnum) as told
    from catalograph.live_columns(root) l join catalograph.live_pinnable(root) p using (attnum)
    group by l.place order by l.place
  loop
    ones := ones || format($one$
    if (mask operator(pg_catalog.&) %s) operator(pg_catalog.=) mask then
      insert into catalograph.live_changes (xid, relation, touched)
      select pg_catalog.pg_current_xact_id(), %s, pg_catalog.concat('{', pg_catalog.substr(pg_catalog.concat(''%s), 2), '}')
      from %s;
      is_told := found;
    end if;$one$, c.mask, root, c.told, one);
  end loop;
  for c in select l.*, p.base from catalograph.live_columns(root) l join catalograph.live_pinnable(root) p using (attnum)
    order by l.attnum
  loop
    pins := pins || format($pin$
      if (mask operator(pg_catalog.&) %1$s) operator(pg_catalog.<>) 0%6$s then
        select case when pg_catalog.count(r.%3$I) operator(pg_catalog.<=) ${mostValues} then pg_catalog.concat(%2$L,
          coalesce((pg_catalog.json_agg(%4$s) filter (where r.%3$I is not null))::pg_catalog.text, '[]')) end
        into told from (select distinct u.%3$I from %5$s u limit ${mostValues} + 2) r;
        touched := pg_catalog.concat(touched, told);
      end if;$pin$, 1::bigint << c.attnum, ',' || c.member || ':', c.attname, c.value, format(rows, c.attname),
      case when c.base in (25, 1043) then format(' and not exists (select from %s r where %s)',
        format(rows, c.attname), format(is_long, c.value)) end);
  end loop;
  source := '
<<live>>
declare
  mask pg_catalog.int8 := pg_catalog.pg_sequence_last_value(''catalograph.live_%1$s''::pg_catalog.regclass);
  touched pg_catalog.text := '''';
  told pg_catalog.text;
  is_told pg_catalog.bool := false;
begin';
  if operation <> 'truncate' then
    source := source || format('
  if mask operator(pg_catalog.>) 1 then%s
    if not is_told then%s
    end if;
  end if;', replace(ones, '%', '%%'), replace(pins, '%', '%%'));
  end if;
  source := source || $insert$
  if not is_told then
    insert into catalograph.live_changes (xid, relation, touched)
    select pg_catalog.pg_current_xact_id(), %1$s, pg_catalog.concat('{', pg_catalog.substr(live.touched, 2), '}')$insert$
    || case operation when 'truncate' then ';' when 'insert' then ' from new_rows limit 1;' else ' from old_rows limit 1;' end;
  return format(source || $tell$
    if not found then return null; end if;
  end if;${wake("perform pg_catalog.setval('catalograph.live_%1$s'::pg_catalog.regclass, 0);")}
end -- ${bodyMarkPrefix}%2$s
$tell$, root, (select hashtextextended(p.prosrc, 0) from pg_proc p
    where p.oid = 'catalograph.live_body(oid, text)'::regprocedure));
end
`,
)

export const bodyFunctions: readonly OwnFunction[] = [tops, tree, pinnable, columns, body]
