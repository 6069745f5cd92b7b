import { statement, type RunStatement, type StatementsDatabase } from '../../db/pool/statements.ts'

/** Row-level security from the catalogue (PostgreSQL manual, pg_policy). */

export type RowCommand = 'select' | 'insert' | 'update' | 'delete'

export interface TableName {
  readonly schema: string
  readonly name: string
}

export interface ShownPolicy {
  readonly name: string
  readonly command: RowCommand | 'all'
  /** False: restrictive. */
  readonly permissive: boolean
  readonly roles: readonly string[]
  /** SQL; null: none. */
  readonly using: string | null
  /** SQL; null: none. */
  readonly check: string | null
}

export interface ShownTable extends TableName {
  /** Row-level security is on. */
  readonly enabled: boolean
  /** It also applies to the table's owner. */
  readonly forced: boolean
  readonly policies: readonly ShownPolicy[]
}

/** Tables of the served schemas, without those of extensions. */
const served = `pg_class c join pg_namespace n on n.oid = c.relnamespace
  where c.relkind in ('r', 'p') and n.nspname = any($1) and not exists (
    select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')`

/** Members of a JSON object for a policy's rule. */
const rule = `'permissive', p.polpermissive, 'command', case p.polcmd
    when 'r' then 'select' when 'a' then 'insert' when 'w' then 'update' when 'd' then 'delete' else 'all' end,
  'using', pg_get_expr(p.polqual, p.polrelid), 'check', pg_get_expr(p.polwithcheck, p.polrelid)`

const tables = statement<ShownTable>(
  'admin.policies.tables',
  `select n.nspname as schema, c.relname as name, c.relrowsecurity as enabled, c.relforcerowsecurity as forced, coalesce((
    select json_agg(json_build_object('name', p.polname, ${rule},
      'roles', array(select coalesce(r.rolname, 'public') from unnest(p.polroles) given left join pg_roles r on r.oid = given)
    ) order by p.polname)
    from pg_policy p where p.polrelid = c.oid), '[]') as policies
  from ${served} order by 1, 2`,
)

/** The privileges of a role on a table, and the policies for it. */
export interface TablePrivileges extends TableName {
  /** Null: the role does not exist. */
  readonly role: string | null
  readonly usage: boolean
  readonly select: boolean
  readonly insert: boolean
  readonly update: boolean
  readonly delete: boolean
  /** Row-level security applies to the role. */
  readonly restricted: boolean
  readonly policies: readonly RolePolicy[]
}

/** A policy that applies to a role. */
export type RolePolicy = Pick<ShownPolicy, 'command' | 'permissive' | 'using' | 'check'>

const privileges = statement<TablePrivileges>(
  'admin.policies.privileges',
  `select n.nspname as schema, c.relname as name, r.rolname as role, has_schema_privilege(r.oid, n.oid, 'usage') as usage,
    has_any_column_privilege(r.oid, c.oid, 'select') as "select",
    has_any_column_privilege(r.oid, c.oid, 'insert') as "insert",
    has_any_column_privilege(r.oid, c.oid, 'update') as "update",
    has_table_privilege(r.oid, c.oid, 'delete') as "delete",
    c.relrowsecurity and not (r.rolsuper or r.rolbypassrls)
      and (c.relforcerowsecurity or not pg_has_role(r.oid, c.relowner, 'usage')) as restricted,
    coalesce((select json_agg(json_build_object(${rule}))
      from pg_policy p where p.polrelid = c.oid and exists (
        select from unnest(p.polroles) given where given = 0 or pg_has_role(r.oid, given, 'usage'))), '[]') as policies
  from (select c.* from ${served} and n.nspname = $2 and c.relname = $3) c join pg_namespace n on n.oid = c.relnamespace
    left join pg_roles r on r.rolname = $4`,
)

/** With it Postgres qualifies every name of an expression, so that it means the same for other sessions. */
const bareNames = statement('admin.policies.bare-names', `select set_config('search_path', 'pg_catalog', true)`)

const withBareNames = <T>(database: StatementsDatabase, work: (run: RunStatement) => Promise<T>): Promise<T> =>
  database.transaction(async (run) => {
    await run(bareNames)
    return work(run)
  })

/** Every table of the schemas with its policies. */
export const readTables = (database: StatementsDatabase, schemas: readonly string[]): Promise<readonly ShownTable[]> =>
  withBareNames(database, (run) => run(tables, [schemas]))

/** Null: the schemas have no such table. */
export async function readPrivileges(
  database: StatementsDatabase,
  schemas: readonly string[],
  { schema, name }: TableName,
  role: string,
): Promise<TablePrivileges | null> {
  const [found = null] = await withBareNames(database, (run) => run(privileges, [schemas, schema, name, role]))
  return found
}
