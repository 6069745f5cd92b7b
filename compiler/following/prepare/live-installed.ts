/** The end of a trigger function, with a hash of its source: another version of this program replaces it. */
export const bodyMarkPrefix = 'live_body '

/**
 * SQL condition: the triggers that report the changes of a relation exist and are current, and event triggers keep them
 * so. It fails on no database.
 * @param relation SQL of type oid
 */
export const liveInstalled = (relation: string): string => `(
  with recursive up (member) as (
    select (${relation})::pg_catalog.oid
    union select i.inhparent from pg_catalog.pg_inherits i join up on i.inhrelid = up.member
  ), down (root, member) as (
    select member, member from up
    where not exists (select from pg_catalog.pg_inherits i where i.inhrelid = up.member)
    union select down.root, i.inhrelid from pg_catalog.pg_inherits i join down on i.inhparent = down.member
  )
  select (select pg_catalog.count(*) from down) * 4 = (
      select pg_catalog.count(*) from down
      join pg_catalog.pg_trigger g on g.tgrelid = down.member
      join pg_catalog.pg_proc p on p.oid = g.tgfoid
      join pg_catalog.pg_namespace n on n.oid = p.pronamespace
      where n.nspname = 'catalograph' and p.proname like 'live\\_' || down.root || '\\_%' and g.tgenabled = 'A'
        and pg_catalog.strpos(p.prosrc, (
          select '${bodyMarkPrefix}' || pg_catalog.hashtextextended(b.prosrc, 0) from pg_catalog.pg_proc b
          where b.pronamespace = n.oid and b.proname = 'live_body')) > 0)
    and (select pg_catalog.count(*) from pg_catalog.pg_event_trigger e
      where e.evtname in ('catalograph_ddl_command_end', 'catalograph_sql_drop') and e.evtenabled = 'A') = 2)`
