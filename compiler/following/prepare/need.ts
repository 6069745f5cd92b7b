import { literal } from '../../../runtime/sql/literal.ts'
import { changingOwnObjects } from './obstacles.ts'

/** The migrations of a database before it can be served: one row per object, in creation order. */
export interface Need {
  readonly id: string
  /**
   * SQL condition that is true if nothing is left to do; it fails on no database, also without the objects it looks
   * for.
   */
  readonly present: string
  /** SQL that creates it; running it again is harmless. */
  readonly make: string
  /** Without these an API is served too, but does not follow changes of the schema. */
  readonly onlyFollowing: boolean
  /** Only live queries need it; serving and following work without it. */
  readonly onlyLive?: true
  /** SQL query of the missing privilege (obstacles.ts); null if an API is served without it. */
  readonly obstacle: string | null
}

export const need = (id: string, present: string, make: string, obstacle: string = changingOwnObjects): Need => ({
  id,
  present,
  make,
  onlyFollowing: false,
  obstacle,
})

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

/** The types of its arguments, as oidvectortypes() prints them. */
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
    where p.oid = ${ownOid(fn)} and p.prosrc = ${literal(fn.body)} and p.prosecdef = ${fn.definer}
      and p.provolatile = '${fn.stable ? 's' : 'v'}'${fn.plannedOnce ? ` and ${literal(onePlan.replaceAll(' ', ''))} = any (p.proconfig)` : ''})`

export const ownFunction = (fn: OwnFunction): Need => need(`function ${fn.name}`, functionIs(fn), createFunction(fn))

export const tableOid = (name: string): string => `(
    select c.oid from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
    where n.nspname = 'catalograph' and c.relname = '${name}')`

export const ownTable = (name: string, columns: string): Need =>
  need(
    `table catalograph.${name}`,
    `${tableOid(name)} is not null`,
    `create table if not exists catalograph.${name} (${columns})`,
  )
