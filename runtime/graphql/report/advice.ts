import type { BoundStatement } from '../../contract/execution.ts'
import { literal } from '../../sql/literal.ts'
import { named } from '../statements/statements.ts'

/**
 * What an owner should mend, found in the system catalogues as they are now (PostgreSQL manual, chapter "System
 * Catalogs", which everybody may read). One column: a JSON list of `{problem, object, message, sql}`.
 *
 * $1: the schemas to look at, a JSON list. Every relation, function and operator is pg_catalog's, whatever the search path holds.
 */
export const advice = (role: string, schemas: readonly string[]): BoundStatement => ({
  ...named(role, adviceText),
  values: [JSON.stringify(schemas)],
})

/** Roles that keys are published for, and the one that asks. */
const API_ROLES = `api as (
  select oid, rolname from pg_catalog.pg_roles where rolname in ('anon', 'authenticated', current_user)
)`

/** Relations that some API role may read or change, and their names in SQL. */
const RELATIONS = `relations as (
  select c.oid, c.relkind, c.relrowsecurity, c.reloptions,
    pg_catalog.format('%I.%I', n.nspname, c.relname) as name,
    (select pg_catalog.string_agg(pg_catalog.quote_ident(api.rolname), ', ' order by api.rolname) from api
      where pg_catalog.has_schema_privilege(api.oid, n.oid, 'USAGE')
        and (pg_catalog.has_any_column_privilege(api.oid, c.oid, 'SELECT, INSERT, UPDATE')
          or pg_catalog.has_table_privilege(api.oid, c.oid, 'DELETE'))) as roles
  from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  where n.nspname in (select pg_catalog.json_array_elements_text($1::pg_catalog.json)) and c.relkind in ('r', 'p', 'v')
)`

/** Columns by which an index finds rows: its leading ones, where it is whole and valid. */
const INDEXES = `indexes as (
  select i.indrelid, (i.indkey::pg_catalog.int2[])[0:i.indnkeyatts - 1] as columns
  from pg_catalog.pg_index i where i.indisvalid and i.indpred is null
)`

/** The functions that tell who asks, where they do not stand in a sub-select of their own. */
const PER_ROW = `(?<!SELECT \\(*)(auth\\.(?:uid|jwt|role|email)\\(\\)|current_setting\\('[^']*'::text(?:, (?:true|false))?\\))`

const POLICIES = `policies as (
  select p.oid, p.polname, r.oid as relation, r.name,
    pg_catalog.pg_get_expr(p.polqual, p.polrelid) as used, pg_catalog.pg_get_expr(p.polwithcheck, p.polrelid) as checked
  from pg_catalog.pg_policy p join relations r on r.oid = p.polrelid
)`

const perRow = literal(PER_ROW)

const ROW_SECURITY = `select 1 as rank, 'row level security is off' as problem, 'table ' || r.name as object,
    'Whatever the grants allow, ' || r.roles || ' may do with every row.' as message,
    'alter table ' || r.name || ' enable row level security;' as sql
  from relations r where r.relkind in ('r', 'p') and not r.relrowsecurity and r.roles is not null`

const DEFINER_VIEWS = `select 2, 'the view runs as its owner', 'view ' || r.name,
    'Row-level security of what it reads asks for its owner and not for ' || r.roles || '.',
    case when pg_catalog.current_setting('server_version_num')::pg_catalog.int4 >= 150000
      then 'alter view ' || r.name || ' set (security_invoker = true);'
      else 'revoke all on ' || r.name || ' from ' || r.roles || ';' end
  from relations r where r.relkind = 'v' and r.roles is not null
    and not exists (select from pg_catalog.unnest(r.reloptions) option
      where option ~* '^security_invoker=(true|on|yes|1)$')`

const once = (expression: string): string => `pg_catalog.regexp_replace(${expression}, ${perRow}, '(select \\1)', 'g')`

const POLICY_CALLS = `select 3, 'the policy asks who is asking for every row',
    'policy ' || pg_catalog.quote_ident(p.polname) || ' on ' || p.name,
    'A call in a sub-select of its own is made once per statement and not once per row.',
    'alter policy ' || pg_catalog.quote_ident(p.polname) || ' on ' || p.name
      || case when p.used is null then '' else ' using (' || ${once('p.used')} || ')' end
      || case when p.checked is null then '' else ' with check (' || ${once('p.checked')} || ')' end || ';'
  from policies p where pg_catalog.concat(p.used, ' ', p.checked) ~ ${perRow}`

const columnsOf = (relation: string, numbers: string): string => `(
      select pg_catalog.string_agg(pg_catalog.quote_ident(a.attname), ', ' order by k.place)
      from pg_catalog.unnest(${numbers}) with ordinality k(number, place)
      join pg_catalog.pg_attribute a on a.attrelid = ${relation} and a.attnum = k.number)`

/** An index serves when its first columns are those of the key, in any order. */
const FOREIGN_KEYS = `select 4, 'the foreign key has no index',
    'constraint ' || pg_catalog.quote_ident(k.conname) || ' on ' || r.name,
    'Whatever goes from there to here, relations and deletes among it, reads the whole table.',
    'create index on ' || r.name || ' (' || ${columnsOf('r.oid', 'k.conkey')} || ');'
  from pg_catalog.pg_constraint k join relations r on r.oid = k.conrelid
  where k.contype = 'f' and k.conparentid = 0 and not exists (
    select from indexes i where i.indrelid = r.oid
      and i.columns[1:pg_catalog.cardinality(k.conkey)] operator(pg_catalog.@>) k.conkey)`

/** Columns of the table itself that its policies compare with who asks. */
const POLICY_COLUMNS = `select distinct 5, 'a column that policies compare has no index',
    'column ' || p.name || '.' || pg_catalog.quote_ident(a.attname),
    'Every statement of a role that the policy is for reads the whole table.',
    'create index on ' || p.name || ' (' || pg_catalog.quote_ident(a.attname) || ');'
  from policies p
  join pg_catalog.pg_depend d on d.classid = 'pg_catalog.pg_policy'::pg_catalog.regclass and d.objid = p.oid
    and d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass and d.refobjid = p.relation and d.refobjsubid > 0
  join pg_catalog.pg_attribute a on a.attrelid = d.refobjid and a.attnum = d.refobjsubid
  cross join lateral (select pg_catalog.regexp_replace(pg_catalog.quote_ident(a.attname), '([^[:alnum:]_])', '\\\\\\1', 'g') as name) column_
  where p.used ~ '(auth\\.|current_setting\\()'
    and (p.used ~ ('\\(' || column_.name || ' = ') or p.used ~ (' = ' || column_.name || '\\)'))
    and not exists (select from indexes i where i.indrelid = p.relation and i.columns[1] = a.attnum)`

const adviceText = `with ${API_ROLES}, ${RELATIONS}, ${INDEXES}, ${POLICIES}
select coalesce(pg_catalog.json_agg(pg_catalog.json_build_object(
    'problem', x.problem, 'object', x.object, 'message', x.message, 'sql', x.sql) order by x.rank, x.object, x.sql), '[]')
from (
  ${[ROW_SECURITY, DEFINER_VIEWS, POLICY_CALLS, FOREIGN_KEYS, POLICY_COLUMNS].join('\n  union all\n  ')}
) x`
