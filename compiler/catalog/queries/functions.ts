import type { ByExtent } from './extent.ts'
import { aclKey, aclOf, commentOf, rowHash } from './text.ts'

const routines = (among: string): string => `own_routines as materialized (
  select p.oid, pg_catalog.hashtextextended(n.nspname::pg_catalog.text, ${rowHash('p', '0')})
    # coalesce(${rowHash('d', '1')}, '0') as hash
  from pg_catalog.pg_proc p join served n on n.oid = p.pronamespace ${commentOf('d', 'pg_proc', 'p.oid')}
  where ${among}
), routines as materialized (
  select p.oid, own.hash, n.nspname, p.proname, p.prokind, p.provolatile, p.proretset, p.prorows, p.prorettype,
    p.provariadic,
    coalesce(p.proallargtypes, p.proargtypes::pg_catalog.oid[]) as types, p.proargtypes, p.proargmodes, p.proargnames,
    p.pronargdefaults, p.proargdefaults, ${aclOf('p.proacl', 'f', 'p.proowner')} as acl
  from own_routines own join pg_catalog.pg_proc p on p.oid = own.oid
  join pg_catalog.pg_namespace n on n.oid = p.pronamespace
  left join known_routines known on known.oid = own.oid
  where own.hash is distinct from known.hash or p.proargdefaults is not null
)`

/** Defaults are printed with the names of their objects, so a function with defaults is always read. */
export const ROUTINES: ByExtent = {
  whole: routines('true'),
  recorded: routines('p.oid = any (array(select oid from touched union select oid from known_routines))'),
}

export const FUNCTION_LIST = `select p.oid, p.hash::pg_catalog.text as hash, p.nspname as schema, p.proname as name,
    p.prokind as kind,
    p.provolatile as volatility, p.proretset as "returnsSet", p.prorows as rows, p.prorettype as result,
    p.provariadic <> '0' as variadic, p.types, p.proargmodes as modes, p.proargnames as names,
    p.pronargdefaults as "defaultCount", d.description as comment, ${aclKey('p.acl')} as acl,
    case path.value when '' then pg_catalog.pg_get_expr(p.proargdefaults, '0') end as defaults
  from routines p cross join path ${commentOf('d', 'pg_proc', 'p.oid')}
  order by p.nspname, p.proname,
    case path.value when '' then pg_catalog.oidvectortypes(p.proargtypes) end collate pg_catalog."C"`
