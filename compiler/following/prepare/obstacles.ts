import type { Query } from '../../../runtime/db/connect/session.ts'
import { literal } from '../../../runtime/sql/tree.ts'

/**
 * Missing privileges of the preparing role, each an SQL query that fails on no database: the forbidden action, who may
 * help, and the statement that does; no row without an obstacle.
 */

const since16 = `pg_catalog.current_setting('server_version_num')::int >= 160000`

const me = `(select r from pg_catalog.pg_roles r where r.rolname = current_user)`

const isSuperuser = `(${me}).rolsuper`
const mayCreateRoles = `(${isSuperuser} or (${me}).rolcreaterole)`

export const creatingRole = (role: string): string => `select 'create role ${role}' as act, 'a superuser' as helper,
    pg_catalog.format('alter role %I createrole;', current_user) as statement
  where not ${mayCreateRoles} and not exists (select from pg_catalog.pg_roles r where r.rolname = '${role}')`

/** Since PostgreSQL 16 this needs the admin option; before, the right to create roles (manual, GRANT). */
export const grantingRole = (role: string, login: string): string => `select
    pg_catalog.format('grant ${role} to %I', ${literal(login)}::text) as act,
    coalesce((select pg_catalog.min(pg_catalog.pg_get_userbyid(m.member)::text)
        from pg_catalog.pg_auth_members m where m.roleid = r.oid and m.admin_option),
      case when ${since16} then 'a superuser' else 'a role that has createrole' end) as helper,
    pg_catalog.format('grant ${role} to %I;', ${literal(login)}::text) as statement
  from pg_catalog.pg_roles r where r.rolname = '${role}'
    and not (${isSuperuser} or pg_catalog.pg_has_role(r.oid, 'MEMBER WITH ADMIN OPTION')
      or (not ${since16} and ${mayCreateRoles}))`

export const creatingSchema = (schema: string): string => `select 'create schema ${schema}' as act,
    pg_catalog.pg_get_userbyid(d.datdba)::text as helper,
    pg_catalog.format('grant create on database %I to %I;', d.datname, current_user) as statement
  from pg_catalog.pg_database d where d.datname = pg_catalog.current_database()
    and not pg_catalog.has_database_privilege(d.oid, 'CREATE')
    and not exists (select from pg_catalog.pg_namespace n where n.nspname = '${schema}')`

/** The owner of an object created it, and replaces it. */
export const changingOwnObjects = `(select case o.kind when 'schema' then 'create anything in schema catalograph'
      else 'change ' || o.kind || ' ' || o.name end || ', which belongs to ' || pg_catalog.pg_get_userbyid(o.owner) as act,
    pg_catalog.pg_get_userbyid(o.owner)::text as helper, 'catalograph prepare' as statement
  from (
    select 1 as place, 'schema' as kind, n.nspname::text as name, n.nspowner as owner, n.oid as schema
    from pg_catalog.pg_namespace n where n.nspname = 'catalograph'
      and not pg_catalog.has_schema_privilege(n.oid, 'CREATE')
    union all
    select 2, 'table', pg_catalog.format('catalograph.%I', c.relname), c.relowner, n.oid
    from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
    where n.nspname = 'catalograph' and c.relkind = 'r'
    union all
    select 3, 'function', pg_catalog.format('catalograph.%I', p.proname), p.proowner, n.oid
    from pg_catalog.pg_proc p join pg_catalog.pg_namespace n on n.oid = p.pronamespace where n.nspname = 'catalograph'
  ) o where o.place = 1 or not pg_catalog.pg_has_role(o.owner, 'USAGE')
  order by o.place, o.name limit 1)`

export const creatingInAuth = `select 'create a function in schema auth, which belongs to ' || pg_catalog.pg_get_userbyid(n.nspowner) as act,
    pg_catalog.pg_get_userbyid(n.nspowner)::text as helper,
    pg_catalog.format('grant create on schema auth to %I;', current_user) as statement
  from pg_catalog.pg_namespace n where n.nspname = 'auth' and not pg_catalog.has_schema_privilege(n.oid, 'CREATE')`

export const grantingAuthUsage = (grantee: string): string => `select 'grant usage on schema auth to ${grantee}' as act,
    pg_catalog.pg_get_userbyid(n.nspowner)::text as helper, 'grant usage on schema auth to ${grantee};' as statement
  from pg_catalog.pg_namespace n where n.nspname = 'auth'
    and not pg_catalog.has_schema_privilege(n.oid, 'USAGE WITH GRANT OPTION')`

/** @param oid SQL of the function's oid */
export const grantingAuthExecute = (name: string, oid: string, grantee: string): string => `select
    'grant execute on function auth.${name}() to ${grantee}' as act,
    pg_catalog.pg_get_userbyid(p.proowner)::text as helper,
    'grant execute on function auth.${name}() to ${grantee};' as statement
  from pg_catalog.pg_proc p where p.oid = ${oid}
    and not pg_catalog.has_function_privilege(p.oid, 'EXECUTE WITH GRANT OPTION')`

interface Obstacle {
  readonly role: string
  readonly act: string
  readonly helper: string
  readonly statement: string
}

/**
 * A sentence with the first forbidden action of the role, and the remedy; null: no known obstacle.
 * @param queries of the missing objects, in creation order
 */
export async function obstacleOf(query: Query, queries: readonly string[]): Promise<string | null> {
  const parts = [...new Set(queries)].map(
    (text, place) => `select ${place} as place, o.act, o.helper, o.statement from (${text}) o`,
  )
  if (parts.length === 0) return null
  const { rows } = await query<Obstacle>(
    `select current_user::text as role, o.* from (${parts.join('\nunion all\n')}) o order by o.place`,
  )
  const [first] = rows
  if (first === undefined) return null
  const helpers = [...new Set(rows.map(({ helper }) => helper))].map((helper) => {
    const statements = rows.filter((row) => row.helper === helper).map(({ statement }) => statement)
    return `let ${helper} run: ${[...new Set(statements)].join(' ')}`
  })
  return `${first.role} may not ${first.act}; ${helpers.join(' and ')}`
}
