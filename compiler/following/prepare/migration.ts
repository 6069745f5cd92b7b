import type { Query } from '../../../runtime/db/connect/session.ts'
import { literal } from '../../../runtime/sql/tree.ts'
import { changingOwnObjects } from './obstacles.ts'
import { isPreparedByNewer } from './preparation.ts'

export const lackOfBypass = 'policies bind service_role, since it does not bypass row-level security'

/** A role that may create roles may not give this attribute (manual, CREATE ROLE). */
export const bypassRemedy = 'let a superuser run: alter role service_role bypassrls;'

export const lacksBypass = async (query: Query): Promise<boolean> =>
  (
    await query(`select from pg_catalog.pg_roles r
      where r.rolname = 'service_role' and not r.rolbypassrls and not r.rolsuper`)
  ).rows.length > 0

/** The migrations of a database before it can be served: one row per object, in creation order. */
export interface Migration {
  readonly id: string
  /** SQL condition that is true if nothing is left to do; it works without the objects it looks for. */
  readonly isApplied: string
  /** SQL that creates it; running it again is harmless. */
  readonly sql: string
  /** Without these an API is served too, but does not follow changes of the schema. */
  readonly onlyFollowing: boolean
  /** Only live queries need it; serving and following work without it. */
  readonly onlyLive?: true
  /** SQL query of the missing privilege (obstacles.ts); null if an API is served without it. */
  readonly obstacle: string | null
}

export const migration = (
  id: string,
  isApplied: string,
  sql: string,
  obstacle: string = changingOwnObjects,
): Migration => ({ id, isApplied, sql, onlyFollowing: false, obstacle })

/** True if PUBLIC (grantee 0) has the privilege, or, for functions, if it was never revoked. */
export const publicHas = (acl: string, kind: string, owner: string, privilege: string): string =>
  `exists (select from pg_catalog.aclexplode(coalesce(${acl}, pg_catalog.acldefault('${kind}', ${owner}))) a
      where a.grantee = 0 and a.privilege_type = '${privilege}')`

export interface OwnFunction {
  readonly name: string
  readonly args: string
  readonly returns: string
  readonly language: 'plpgsql' | 'sql'
  readonly definer: boolean
  /** It reads in the snapshot of the calling statement (manual 36.7), and allows parallel statements. */
  readonly stable?: true
  /**
   * Its queries, and those of the functions that it calls, are planned once per session: with custom plans, Postgres
   * would plan them for each call (manual, PREPARE).
   */
  readonly plannedOnce?: true
  readonly body: string
}

/** pg_temp comes last: by default it would come first, and a temporary table could shadow one of pg_catalog's. */
const definerClause = 'security definer set search_path = pg_catalog, pg_temp'

const createFunction = ({ name, args, returns, language, definer, stable, plannedOnce, body }: OwnFunction): string =>
  `create or replace function ${name}(${args}) returns ${returns} language ${language}${stable ? ' stable parallel safe' : ''}
  ${definer ? definerClause : 'security invoker'}${plannedOnce ? ` set ${onePlan}` : ''} as ${literal(body)}`

const onePlan = 'plan_cache_mode = force_generic_plan'

const argumentTypes = ({ args }: OwnFunction): string => args.replace(/\w+ (\w+)/g, '$1')

export const signature = (fn: OwnFunction): string => `${fn.name}(${argumentTypes(fn)})`

/**
 * OID of a function or null; unlike to_regprocedure it needs no privilege on the schema. Schema and name are compared
 * separately, so that the index of pg_proc is used: a scan of all functions takes milliseconds, and there are a hundred
 * of them.
 */
export const functionOid = (name: string, types: string): string => {
  const [schema, own] = name.split('.')
  return `(
    select p.oid from pg_catalog.pg_proc p join pg_catalog.pg_namespace n on n.oid = p.pronamespace
    where n.nspname = '${schema}' and p.proname = '${own}' and pg_catalog.oidvectortypes(p.proargtypes) = '${types}')`
}

export const ownOid = (fn: OwnFunction): string => functionOid(fn.name, argumentTypes(fn))

const functionIs = (fn: OwnFunction): string => `exists (
    select from pg_catalog.pg_proc p
    where p.oid = ${ownOid(fn)} and (${isPreparedByNewer}
      or p.prosrc = ${literal(fn.body)} and p.prosecdef = ${fn.definer}
      and p.provolatile = '${fn.stable ? 's' : 'v'}'${fn.plannedOnce ? ` and ${literal(onePlan.replaceAll(' ', ''))} = any (p.proconfig)` : ''}))`

export const ownFunction = (fn: OwnFunction): Migration =>
  migration(`function ${fn.name}`, functionIs(fn), createFunction(fn))

export const tableOid = (name: string): string => `(
    select c.oid from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
    where n.nspname = 'catalograph' and c.relname = '${name}')`

export const ownTable = (name: string, columns: string): Migration =>
  migration(
    `table catalograph.${name}`,
    `${tableOid(name)} is not null`,
    `create table if not exists catalograph.${name} (${columns})`,
  )

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
export const ownersMigration: Migration = {
  id: 'owners in schema catalograph',
  isApplied: `not exists (select from (${objects}) o where o.closed)`,
  sql: `do $$ declare given record; followed record; begin
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

interface ForeignOwner {
  readonly object: string
  readonly owner: string
  readonly taker: string
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
