import { literal } from '../../../runtime/sql/literal.ts'
import { changingOwnObjects } from './obstacles.ts'

/** What a database needs before it can be served: one row per thing, in the order in which they are made. */
export interface Need {
  readonly id: string
  /**
   * SQL condition that is true when nothing is left to do; it fails on no database, also without the objects that it
   * looks for.
   */
  readonly present: string
  /** SQL that makes it; running it again is harmless. */
  readonly make: string
  /** Without these an API is served as well; it only does not follow changes of the schema. */
  readonly onlyFollowing: boolean
  /** Present where an API is served and followed without it, and only live queries need it. */
  readonly onlyLive?: true
  /** SQL query of what keeps the role from making it (obstacles.ts); null where an API is served without it. */
  readonly obstacle: string | null
}

export const need = (id: string, present: string, make: string, obstacle: string = changingOwnObjects): Need => ({
  id,
  present,
  make,
  onlyFollowing: false,
  obstacle,
})

/** True when PUBLIC (grantee 0) holds the privilege, or, for functions, when it was never revoked. */
export const publicHas = (acl: string, kind: string, owner: string, privilege: string): string =>
  `exists (select from pg_catalog.aclexplode(coalesce(${acl}, pg_catalog.acldefault('${kind}', ${owner}))) a
      where a.grantee = 0 and a.privilege_type = '${privilege}')`

export interface OwnFunction {
  readonly name: string
  readonly args: string
  readonly returns: string
  readonly language: 'plpgsql' | 'sql'
  readonly definer: boolean
  /** It reads in the snapshot of the statement that calls it (manual 36.7), and keeps no statement from being parallel. */
  readonly stable?: true
  /**
   * What it asks, and what the functions that it calls ask, is planned once in a session: by what they are given, Postgres would
   * plan it for each call (manual, PREPARE).
   */
  readonly plannedOnce?: true
  readonly body: string
}

/** pg_temp stands last: left out, it would come first, and a temporary table could pose as one of pg_catalog's. */
const definerClause = 'security definer set search_path = pg_catalog, pg_temp'

const createFunction = ({ name, args, returns, language, definer, stable, plannedOnce, body }: OwnFunction): string =>
  `create or replace function ${name}(${args}) returns ${returns} language ${language}${stable ? ' stable parallel safe' : ''}
  ${definer ? definerClause : 'security invoker'}${plannedOnce ? ` set ${onePlan}` : ''} as ${literal(body)}`

const onePlan = 'plan_cache_mode = force_generic_plan'

/** The types of its arguments, as oidvectortypes() lists them. */
const typesOf = ({ args }: OwnFunction): string => args.replace(/\w+ (\w+)/g, '$1')

export const signature = (fn: OwnFunction): string => `${fn.name}(${typesOf(fn)})`

/**
 * OID of a function or null; unlike to_regprocedure it asks for no right on the schema. Schema and name are compared by
 * themselves, so that the index of pg_proc finds it: a scan of all functions takes milliseconds, and there are a hundred of them.
 */
export const functionOid = (name: string, types: string): string => {
  const [schema, own] = name.split('.')
  return `(
    select p.oid from pg_catalog.pg_proc p join pg_catalog.pg_namespace n on n.oid = p.pronamespace
    where n.nspname = '${schema}' and p.proname = '${own}' and pg_catalog.oidvectortypes(p.proargtypes) = '${types}')`
}

export const ownOid = (fn: OwnFunction): string => functionOid(fn.name, typesOf(fn))

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
