import { type ByExtent, aclKey, aclOf, commentOf, rowHash } from './extent.ts'

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

const acls = (holders: readonly string[]): string => `acls as materialized (
  select a.acl as items, ${aclKey('a.acl')} as acl from (
    ${holders.map((holder) => `select acl from ${holder} union`).join(' ')}
    select attacl from attributes where attacl is not null
  ) a
)`

/** Distinct ACLs: most objects of a database share a few. */
export const ACLS = acls(['served', 'relations', 'routines', 'types', 'homes'])

export const RELATION_ACLS = acls(['relations'])

export const ROLES = `select oid, rolname as name, rolsuper as superuser, rolinherit as inherit, rolbypassrls as "bypassRls"
  from pg_catalog.pg_roles order by rolname`

/** Since 16 a membership decides about inheritance, and may exist once per grantor; before, the member decides. */
export const MEMBERSHIPS = `select member.rolname as member, granted.rolname as group,
    pg_catalog.bool_or(coalesce(m.inherits, member.rolinherit)) as inherits
  from (select null::pg_catalog.bool as inherit_option) before_16
  cross join lateral (select a.member, a.roleid, inherit_option as inherits from pg_catalog.pg_auth_members a) m
  join pg_catalog.pg_roles member on member.oid = m.member
  join pg_catalog.pg_roles granted on granted.oid = m.roleid
  group by member.rolname, granted.rolname order by member.rolname, granted.rolname`

/** One row per grantee and privilege: the grantor and the grant option are irrelevant here. */
export const GRANTS = `select distinct acls.acl, coalesce(role.rolname, 'public') as grantee,
    item.privilege_type collate pg_catalog."C" as privilege
  from acls cross join lateral pg_catalog.aclexplode(acls.items) item
  left join pg_catalog.pg_roles role on role.oid = item.grantee
  where item.grantee = '0' or role.oid is not null
  order by acl, grantee, privilege`

export const SCHEMA_LIST = `select s.oid, s.nspname as name, d.description as comment, ${aclKey('s.acl')} as acl
  from served s ${commentOf('d', 'pg_namespace', 's.oid')} order by s.place`
