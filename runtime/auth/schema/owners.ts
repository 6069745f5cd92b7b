import type { Query } from '../../db/connect/session.ts'
import { DatabaseFailure } from '../../db/failures/failures.ts'
import { ident } from '../../sql/ident.ts'
import { authOwner } from './auth-schema.ts'
import { authEnums, authTables } from './tables.ts'

/**
 * Ownership of the auth objects. The role of auth owns them: their tables have row-level security without policies,
 * which only the owner bypasses.
 */

const list = (names: readonly string[]): string => names.map((name) => `'${name}'`).join(', ')

/** Other tables of schema auth, which a restored project may have, keep their owners. */
const objects = `
  select 1 as place, 'schema' as kind, pg_catalog.quote_ident(n.nspname) as name, n.nspowner as owner, n.oid, n.oid as schema
  from pg_catalog.pg_namespace n where n.nspname in ('auth', 'catalograph_auth')
  union all
  select 2, 'table', pg_catalog.format('%I.%I', n.nspname, c.relname), c.relowner, c.oid, n.oid
  from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  where c.relkind = 'r' and (n.nspname = 'catalograph_auth'
    or (n.nspname = 'auth' and c.relname in (${list(authTables.map(({ name }) => name))})))
  union all
  select 3, 'type', pg_catalog.format('%I.%I', n.nspname, t.typname), t.typowner, t.oid, n.oid
  from pg_catalog.pg_type t join pg_catalog.pg_namespace n on n.oid = t.typnamespace
  where n.nspname = 'auth' and t.typname in (${list(Object.keys(authEnums))})
  union all
  select 3, 'function', pg_catalog.format('%I.%I(%s)', n.nspname, p.proname, pg_catalog.oidvectortypes(p.proargtypes)),
    p.proowner, p.oid, n.oid
  from pg_catalog.pg_proc p join pg_catalog.pg_namespace n on n.oid = p.pronamespace
  where n.nspname = 'catalograph_auth'`

const since16 = `pg_catalog.current_setting('server_version_num')::int >= 160000`

/** Whether a role may become another role: a separate privilege since PostgreSQL 16 (manual, GRANT ... WITH SET). */
const maySet = (role: string, other: string): string =>
  `pg_catalog.pg_has_role(${role}, ${other}, case when ${since16} then 'SET' else 'MEMBER' end)`

/** Objects with another owner that the current role may give to the owner of auth. */
const givable = `select o.* from (${objects}) o join pg_catalog.pg_roles a on a.rolname = '${authOwner}'
  where o.owner <> a.oid and pg_catalog.pg_has_role(o.owner, 'USAGE') and ${maySet('current_user', 'a.oid')}`

/**
 * Gives the objects of auth to their owner, schemas first: without superuser privileges a table can only be given to a
 * role with CREATE on its schema (manual, ALTER TABLE). An object that cannot be given stays, and `foreignObjects`
 * lists it.
 */
export const giveToOwner = `do $$ declare given record; begin
  for given in ${givable} order by o.place loop
    if (select rolsuper from pg_catalog.pg_roles where rolname = current_user) or (case given.kind
      when 'schema' then pg_catalog.has_database_privilege(pg_catalog.current_database(), 'CREATE')
      else pg_catalog.has_schema_privilege('${authOwner}', given.schema, 'CREATE') end)
    then
      execute pg_catalog.format('alter %s %s owner to ${authOwner}', given.kind, given.name);
    end if;
  end loop;
end $$`

export const hasGivable = async (query: Query): Promise<boolean> => (await query(`${givable} limit 1`)).rows.length > 0

export interface ForeignObject {
  /** `table catalograph_auth.settings` */
  readonly object: string
  readonly owner: string
  readonly role: string
}

/** The trigger function writes as its owner. */
const writesVersion = `pg_catalog.has_table_privilege(o.owner, (
    select c.oid from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
    where n.nspname = 'catalograph_auth' and c.relname = 'settings_version'), 'UPDATE')`

const mayWrite = ['SELECT', 'INSERT', 'UPDATE', 'DELETE']
  .map((right) => `pg_catalog.has_table_privilege(r.oid, o.oid, '${right}')`)
  .join(' and ')

/** The role of auth: its owner, if the login role may become it (`openStatements`). */
const foreign = `select o.kind || ' ' || o.name as object, pg_catalog.pg_get_userbyid(o.owner)::text as owner, r.rolname::text as role
  from (${objects}) o cross join pg_catalog.pg_roles r left join pg_catalog.pg_class c on o.kind = 'table' and c.oid = o.oid
  where r.oid = coalesce(
      (select a.oid from pg_catalog.pg_roles a where a.rolname = '${authOwner}' and ${maySet('session_user', 'a.oid')}),
      (select s.oid from pg_catalog.pg_roles s where s.rolname = session_user))
    and case o.kind
      when 'schema' then not pg_catalog.has_schema_privilege(r.oid, o.oid, 'USAGE')
      when 'table' then not pg_catalog.pg_has_role(r.oid, o.owner, 'USAGE')
        and not (${mayWrite} and (r.rolbypassrls or not c.relrowsecurity))
      when 'function' then not ${writesVersion}
      else false end
  order by o.place, o.name`

/** The objects that auth cannot use with this session's login role. */
export const foreignObjects = async (query: Query): Promise<readonly ForeignObject[]> =>
  (await query<ForeignObject>(foreign)).rows

/** The SQL that makes it usable. */
export const givingSql = ({ object }: ForeignObject): string => `alter ${object} owner to ${authOwner};`

export const foreignSentence = ({ object, owner, role }: ForeignObject): string =>
  `${role} may not use ${object}, which belongs to ${owner}`

interface Hindrance {
  readonly kind: string
  readonly name: string
  readonly owner: string
  readonly role: string
  readonly isMember: boolean
  readonly isSuperuser: boolean
  readonly since16: boolean
}

/** Objects that the migrating role would have to own, or to create in, without the privilege. */
const hindering = `select o.kind, o.name, w.rolname::text as owner, current_user::text as role,
    pg_catalog.pg_has_role(w.oid, 'MEMBER') as "isMember", w.rolsuper as "isSuperuser", ${since16} as since16
  from (
    select 0 as place, 'database' as kind, pg_catalog.quote_ident(d.datname) as name, d.datdba as owner
    from pg_catalog.pg_database d where d.datname = pg_catalog.current_database()
      and not pg_catalog.has_database_privilege(d.oid, 'CREATE') and exists (
        select from pg_catalog.unnest(array['auth', 'catalograph_auth']) s where pg_catalog.to_regnamespace(s) is null)
    union all
    select o.place, o.kind, o.name, o.owner from (${objects}) o
    where case o.kind when 'schema' then not pg_catalog.has_schema_privilege(o.oid, 'CREATE')
      else not pg_catalog.pg_has_role(o.owner, 'USAGE') end
  ) o join pg_catalog.pg_roles w on w.oid = o.owner
  order by o.place, o.name limit 1`

function remedyOf({ kind, name, owner, role, isMember, isSuperuser, since16 }: Hindrance): string {
  const [given, taker] = [ident(owner), ident(role)]
  if (kind === 'database') return `grant create on database ${name} to ${taker};`
  if (isMember) return since16 ? `grant ${given} to ${taker} with inherit true;` : `alter role ${taker} inherit;`
  return isSuperuser ? `alter ${kind} ${name} owner to ${taker};` : `grant ${given} to ${taker};`
}

/** The migrating role lacks privileges. Its message names the object, and the statement that grants them. */
export class MigrationRefusal extends DatabaseFailure {}

/** The refusal with its object, if the catalogue shows it. */
export async function explainRefusal(query: Query, error: DatabaseFailure): Promise<DatabaseFailure> {
  const [found] = (await query<Hindrance>(hindering)).rows
  if (found === undefined) return error
  const { kind, name, owner, role } = found
  const act = kind === 'database' || kind === 'schema' ? `create anything in ${kind}` : `change ${kind}`
  const sentence = `${role} may not ${act} ${name}, which belongs to ${owner}; a role that may runs: ${remedyOf(found)}`
  return new MigrationRefusal(error.kind, sentence, error.sqlstate, null)
}
