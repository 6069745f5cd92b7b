import { aclKey, commentOf } from './text.ts'

/** Distinct ACLs: most objects of a database share a few. */
export const ACLS = `acls as materialized (
  select a.acl as items, ${aclKey('a.acl')} as acl from (
    select acl from served union select acl from relations union select acl from routines union select acl from types
    union select acl from homes
    union select attacl from attributes where attacl is not null
  ) a
)`

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
