import type { Query } from '../../../runtime/db/connect/session.ts'
import type { Need } from './need.ts'

/**
 * The owners of the objects in schema catalograph: its owner, so that the counting functions, which run as their owner,
 * may use the tables. Triggers of live relations stay with the role that installed them.
 */
const objects = `
  select case c.relkind when 'S' then 'sequence' when 'v' then 'view' else 'table' end as kind,
    pg_catalog.format('catalograph.%I', c.relname) as name, c.relowner as owner, n.nspowner as taker,
    not pg_catalog.pg_has_role(n.nspowner, c.relowner, 'USAGE') as closed
  from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  where n.nspname = 'catalograph' and c.relkind in ('r', 'S', 'v') and c.relname !~ '^live_[0-9]'
  union all
  select 'function', pg_catalog.format('catalograph.%I(%s)', p.proname, pg_catalog.oidvectortypes(p.proargtypes)),
    p.proowner, n.nspowner, p.prosecdef and not pg_catalog.pg_has_role(p.proowner, n.nspowner, 'USAGE')
  from pg_catalog.pg_proc p join pg_catalog.pg_namespace n on n.oid = p.pronamespace
  where n.nspname = 'catalograph' and p.proname !~ '^live_[0-9]'`

/** The functions that they call may not use the tables before all objects have the right owner. */
const ownTriggers = `select e.evtname from pg_catalog.pg_event_trigger e
      where e.evtname in ('catalograph_ddl_command_end', 'catalograph_sql_drop') and pg_catalog.pg_has_role(e.evtowner, 'USAGE')`

/**
 * Reassigns objects of the preparing role or of a superuser. Objects of other roles stay: they could contain code that
 * would then run with the privileges of the new owner.
 */
export const ownersNeed: Need = {
  id: 'owners in schema catalograph',
  present: `not exists (select from (${objects}) o where o.closed)`,
  make: `do $$ declare given record; followed record; begin
  for given in select o.kind, o.name, t.rolname as taker
    from (${objects}) o join pg_catalog.pg_roles w on w.oid = o.owner join pg_catalog.pg_roles t on t.oid = o.taker
    where o.owner <> o.taker and (w.rolsuper or w.rolname = current_user) and pg_catalog.pg_has_role(o.owner, 'USAGE')
  loop
    for followed in ${ownTriggers} loop
      execute pg_catalog.format('alter event trigger %I disable', followed.evtname);
    end loop;
    execute pg_catalog.format('alter %s %s owner to %I', given.kind, given.name, given.taker);
    for followed in ${ownTriggers} loop
      execute pg_catalog.format('alter event trigger %I enable always', followed.evtname);
    end loop;
  end loop;
end $$`,
  onlyFollowing: true,
  obstacle: null,
}

export interface ForeignOwner {
  /** `table catalograph.schema_record` */
  readonly object: string
  readonly owner: string
  readonly taker: string
  /** The statement that gives it to the owner of the schema. */
  readonly statement: string
}

/** The objects that make changes of the schema fail, because the counting functions may not use them. */
export const foreignOwners = async (query: Query): Promise<readonly ForeignOwner[]> =>
  (
    await query<ForeignOwner>(`select o.kind || ' ' || o.name as object, pg_catalog.pg_get_userbyid(o.owner)::text as owner,
      pg_catalog.pg_get_userbyid(o.taker)::text as taker,
      pg_catalog.format('alter %s %s owner to %I;', o.kind, o.name, pg_catalog.pg_get_userbyid(o.taker)) as statement
    from (${objects}) o where o.closed order by o.kind, o.name`)
  ).rows

export const ownerSentence = ({ object, owner, taker }: ForeignOwner): string =>
  `${object} belongs to ${owner} and not to ${taker}, the owner of its schema, so that changes of the schema may fail`

export const ownersRemedy = (found: readonly ForeignOwner[]): string =>
  ['let a superuser run catalograph prepare, or:', ...found.map(({ statement }) => statement)].join('\n')
