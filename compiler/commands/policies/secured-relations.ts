import type { Query } from '../../../runtime/db/connect/session.ts'
import { policyRule, type RolePolicy, type RowPrivileges } from '../../../runtime/console/admin/reach.ts'
import type { ShownPolicy } from '../../../runtime/console/admin/access.ts'

/** Tables, views, materialized views and foreign tables of the served schemas, and what roles were granted on them. */

export interface TriedColumn {
  readonly name: string
  /** It takes no value: generated, or an identity that is always generated. */
  readonly generated: boolean
  /** SQL; null: none. */
  readonly default: string | null
}

export interface PolicyFacts extends ShownPolicy {
  /** The columns of its own table that it mentions. */
  readonly columns: readonly string[]
  /** Those of other tables. */
  readonly others: readonly { readonly schema: string; readonly name: string; readonly column: string }[]
}

export interface GrantedRole extends Omit<RowPrivileges, 'policies'> {
  readonly role: string
  readonly columns: Readonly<Record<'select' | 'insert' | 'update', readonly string[]>>
  /** Names of the policies that concern it. */
  readonly concerning: readonly string[]
}

export interface SecuredRelation {
  readonly schema: string
  readonly name: string
  readonly kind: 'table' | 'view' | 'materialized view' | 'foreign table'
  readonly secured: boolean
  readonly key: readonly string[]
  /** Every unique key of one column. */
  readonly unique: readonly string[]
  readonly columns: readonly TriedColumn[]
  readonly policies: readonly PolicyFacts[]
  readonly roles: readonly GrantedRole[]
  /** Of a view that runs as its owner: tables whose row-level security does not concern that owner. */
  readonly bypassed: readonly string[]
}

export interface DefinerFunction {
  readonly signature: string
  readonly owner: string
  readonly roles: readonly string[]
}

export const relationName = ({ schema, name }: { readonly schema: string; readonly name: string }): string =>
  `${schema}.${name}`

const notOfExtension = (catalog: string, oid: string): string => `not exists (select from pg_depend d
  where d.classid = '${catalog}'::regclass and d.objid = ${oid} and d.deptype = 'e')`

const restricted = (role: string, table: string): string => `${table}.relrowsecurity
  and not (${role}.rolsuper or ${role}.rolbypassrls)
  and (${table}.relforcerowsecurity or not pg_has_role(${role}.oid, ${table}.relowner, 'usage'))`

const columnsWith = (privilege: string): string => `array(select a.attname from pg_attribute a
  where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    and has_column_privilege(r.oid, c.oid, a.attnum, '${privilege}') order by a.attnum)`

/** Grants on a materialized view may name commands that it cannot take. */
const mayWrite = (privilege: string): string => `c.relkind <> 'm' and ${privilege}`

/** Search path pg_catalog, so that every name of an expression is qualified. $1: schemas, $2: roles. */
const relationsSql = `select n.nspname::text as schema, c.relname::text as name, c.relrowsecurity as secured,
  case c.relkind when 'v' then 'view' when 'm' then 'materialized view' when 'f' then 'foreign table' else 'table' end as kind,
  array(select a.attname::text from pg_index i, unnest(i.indkey::int2[]) with ordinality k(number, place)
    join pg_attribute a on a.attnum = k.number where i.indrelid = c.oid and i.indisprimary and a.attrelid = c.oid
    order by k.place) as key,
  array(select a.attname::text from pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = i.indkey[0]
    where i.indrelid = c.oid and i.indisunique and i.indnkeyatts = 1 and i.indpred is null) as "unique",
  coalesce((select json_agg(json_build_object('name', a.attname, 'default', pg_get_expr(f.adbin, f.adrelid),
      'generated', a.attgenerated <> '' or a.attidentity = 'a') order by a.attnum)
    from pg_attribute a left join pg_attrdef f on f.adrelid = a.attrelid and f.adnum = a.attnum
    where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped), '[]') as columns,
  coalesce((select json_agg(json_build_object('name', p.polname, ${policyRule},
      'roles', array(select coalesce(r.rolname, 'public') from unnest(p.polroles) given left join pg_roles r on r.oid = given),
      'columns', array(select a.attname from pg_depend d join pg_attribute a on a.attrelid = d.refobjid and a.attnum = d.refobjsubid
        where d.classid = 'pg_policy'::regclass and d.objid = p.oid and d.refobjid = c.oid and d.refobjsubid > 0),
      'others', (select coalesce(json_agg(json_build_object('schema', o.relnamespace::regnamespace::text, 'name', o.relname,
          'column', a.attname)), '[]')
        from pg_depend d join pg_class o on o.oid = d.refobjid join pg_attribute a on a.attrelid = o.oid and a.attnum = d.refobjsubid
        where d.classid = 'pg_policy'::regclass and d.objid = p.oid and d.refclassid = 'pg_class'::regclass
          and d.refobjid <> c.oid and d.refobjsubid > 0)
    ) order by p.polname) from pg_policy p where p.polrelid = c.oid), '[]') as policies,
  (select json_agg(json_build_object('role', r.rolname, 'usage', has_schema_privilege(r.oid, n.oid, 'usage'),
      'select', has_any_column_privilege(r.oid, c.oid, 'select'), 'insert', ${mayWrite(`has_any_column_privilege(r.oid, c.oid, 'insert')`)},
      'update', ${mayWrite(`has_any_column_privilege(r.oid, c.oid, 'update')`)}, 'delete', ${mayWrite(`has_table_privilege(r.oid, c.oid, 'delete')`)},
      'restricted', ${restricted('r', 'c')},
      'columns', json_build_object('select', ${columnsWith('select')}, 'insert', ${columnsWith('insert')}, 'update', ${columnsWith('update')}),
      'concerning', array(select p.polname from pg_policy p where p.polrelid = c.oid and exists (
        select from unnest(p.polroles) given where given = 0 or pg_has_role(r.oid, given, 'usage')))))
    from pg_roles r where r.rolname = any($2)) as roles,
  array(with recursive read(oid) as (select c.oid where c.relkind = 'v'
        and not coalesce((select option.value::boolean from pg_options_to_table(c.reloptions) option(name, value)
          where option.name = 'security_invoker'), false)
      union select d.refobjid from read join pg_rewrite w on w.ev_class = read.oid
        join pg_depend d on d.classid = 'pg_rewrite'::regclass and d.objid = w.oid and d.refclassid = 'pg_class'::regclass)
    select t.oid::regclass::text from read join pg_class t on t.oid = read.oid join pg_roles o on o.oid = c.relowner
    where t.relkind in ('r', 'p') and t.relrowsecurity and not (${restricted('o', 't')}) order by 1) as bypassed
from pg_class c join pg_namespace n on n.oid = c.relnamespace
where c.relkind in ('r', 'p', 'v', 'm', 'f') and n.nspname = any($1) and ${notOfExtension('pg_class', 'c.oid')}
order by 1, 2`

export const readRelations = async (
  query: Query,
  schemas: readonly string[],
  roles: readonly string[],
): Promise<readonly SecuredRelation[]> => (await query<SecuredRelation>(relationsSql, [schemas, roles])).rows

const definersSql = `select n.nspname || '.' || p.proname || '(' || pg_get_function_identity_arguments(p.oid) || ')' as signature,
  pg_get_userbyid(p.proowner)::text as owner, array(select r.rolname::text from pg_roles r where r.rolname = any($2)
    and has_schema_privilege(r.oid, n.oid, 'usage') and has_function_privilege(r.oid, p.oid, 'execute')) as roles
from pg_proc p join pg_namespace n on n.oid = p.pronamespace
where p.prosecdef and p.prokind in ('f', 'p') and n.nspname = any($1)
  and p.prorettype not in ('trigger'::regtype, 'event_trigger'::regtype) and ${notOfExtension('pg_proc', 'p.oid')}
order by 1`

/** Functions of the served schemas that run as their owner, and which of the roles may call them. */
export const readDefiners = async (
  query: Query,
  schemas: readonly string[],
  roles: readonly string[],
): Promise<readonly DefinerFunction[]> => (await query<DefinerFunction>(definersSql, [schemas, roles])).rows

export const roleFactsOf = ({ roles }: SecuredRelation, role: string): GrantedRole | undefined =>
  roles.find((one) => one.role === role)

/** As reachOf takes them. */
export const policyPrivileges = ({ policies }: SecuredRelation, facts: GrantedRole): RowPrivileges => ({
  ...facts,
  policies: policies.filter(({ name }) => facts.concerning.includes(name)) satisfies readonly RolePolicy[],
})

/** Columns that take values, of those that the role may write. */
export const writableIn = (
  { columns: all }: SecuredRelation,
  { columns }: GrantedRole,
  act: 'insert' | 'update',
): readonly string[] => all.flatMap(({ name, generated }) => (!generated && columns[act].includes(name) ? [name] : []))
