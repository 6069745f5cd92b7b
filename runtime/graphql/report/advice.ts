import type { BoundStatement } from '../../contract/execution.ts'
import type { AllowlistFacts } from '../../contract/guards.ts'
import { secretName } from '../../engine/secret-columns.ts'
import { literal } from '../../sql/tree.ts'
import { named } from '../statements/parameters.ts'
import { KEYS, PERIODS, RULES, UNRELATED } from './advice-rules.ts'
import { noLimits } from './report-limits.ts'

/**
 * Faults that an owner should fix, found in the current system catalogues (PostgreSQL manual, chapter "System
 * Catalogs", readable by every role). One column: a JSON list of `{problem, object, message, sql}`.
 *
 * $1: the schemas to check, a JSON list; $2: the allow-lists of the manifest; $3: the schema that should have limits,
 * or null; $4: the functions of extensions that the role may call. Every relation, function and operator is
 * pg_catalog's, under any search path.
 */
export const advice = (
  role: string,
  schemas: readonly string[],
  allowlists: readonly AllowlistFacts[],
  unlimited: string | null,
  callable: readonly Callable[],
): BoundStatement => ({
  ...named(role, adviceText),
  values: [
    JSON.stringify(schemas),
    JSON.stringify(allowlists.filter(({ table }) => table !== null)),
    unlimited,
    JSON.stringify(callable),
  ],
})

/** Fields of functions that extensions brought into a schema. */
export interface Callable {
  readonly schema: string
  readonly fields: string
}

const API_ROLES = `api as (
  select oid, rolname from pg_catalog.pg_roles where rolname in ('anon', 'authenticated', current_user)
)`

/** Relations that some API role may read or change, with their quoted names, without those of extensions. */
const RELATIONS = `relations as (
  select c.oid, c.relnamespace as schema, c.relkind, c.relrowsecurity, c.reloptions,
    pg_catalog.format('%I.%I', n.nspname, c.relname) as name,
    (select pg_catalog.string_agg(pg_catalog.quote_ident(api.rolname), ', ' order by api.rolname) from api
      where pg_catalog.has_schema_privilege(api.oid, n.oid, 'USAGE')
        and (pg_catalog.has_any_column_privilege(api.oid, c.oid, 'SELECT, INSERT, UPDATE')
          or pg_catalog.has_table_privilege(api.oid, c.oid, 'DELETE'))) as roles
  from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  where n.nspname in (select pg_catalog.json_array_elements_text($1::pg_catalog.json)) and c.relkind in ('r', 'p', 'v', 'm', 'f')
    and not exists (select from pg_catalog.pg_depend d where d.classid = 'pg_catalog.pg_class'::pg_catalog.regclass
      and d.objid = c.oid and d.deptype = 'e')
)`

/** Columns by which an index finds rows: the leading columns of a valid index without a condition. */
const INDEXES = `indexes as (
  select i.indrelid, (i.indkey::pg_catalog.int2[])[0:i.indnkeyatts - 1] as columns
  from pg_catalog.pg_index i where i.indisvalid and i.indpred is null
)`

/** The functions that return the caller, outside of a sub-select. */
const PER_ROW = `(?<!SELECT \\(*)(auth\\.(?:uid|jwt|role|email)\\(\\)|current_setting\\('[^']*'::text(?:, (?:true|false))?\\))`

const POLICIES = `policies as (
  select p.oid, p.polname, r.oid as relation, r.name,
    pg_catalog.pg_get_expr(p.polqual, p.polrelid) as used, pg_catalog.pg_get_expr(p.polwithcheck, p.polrelid) as checked
  from pg_catalog.pg_policy p join relations r on r.oid = p.polrelid
)`

const perRow = literal(PER_ROW)

const ROW_SECURITY = `select 1 as rank, 'row level security is off' as problem, 'table ' || r.name as object,
    'Whatever the grants allow, ' || r.roles || ' may do with every row. The policy keeps it so, until you narrow or replace it.' as message,
    'alter table ' || r.name || ' enable row level security; create policy as_granted on ' || r.name || ' to ' || r.roles
      || ' using (true) with check (true);' as sql
  from relations r where r.relkind in ('r', 'p') and not r.relrowsecurity and r.roles is not null`

/** Materialized views and foreign tables have no policies (PostgreSQL manual, CREATE POLICY). */
const BEYOND_POLICIES = `select 2, 'row level security cannot protect it',
    case r.relkind when 'm' then 'materialized view ' else 'foreign table ' end || r.name,
    r.roles || ' may read every row, and no policy can keep one from them.',
    'revoke all on ' || r.name || ' from ' || r.roles || ';'
  from relations r where r.relkind in ('m', 'f') and r.roles is not null`

const SECRET = literal(secretName)

/**
 * A column grant does not narrow a grant on the whole table, so that one is replaced. If the secret is part of the key,
 * the rest of the table would have no key.
 */
const SECRETS = `select 0, 'what looks like a secret can be read', 'table ' || r.name,
    api.rolname || ' may read ' || c.secret || ' in every row.'
      || case when c.keyed then ' A key has it, so that nothing of the table is left to read.' else '' end,
    'revoke select on ' || r.name || ' from ' || pg_catalog.quote_ident(api.rolname) || ';'
      || case when c.keyed then '' else coalesce(' grant select (' || c.rest || ') on ' || r.name || ' to ' || pg_catalog.quote_ident(api.rolname) || ';', '') end
  from relations r cross join api cross join lateral (
    select pg_catalog.string_agg(pg_catalog.quote_ident(a.attname), ', ' order by a.attnum) filter (where a.secret) as secret,
      pg_catalog.string_agg(pg_catalog.quote_ident(a.attname), ', ' order by a.attnum) filter (where not a.secret) as rest,
      coalesce(pg_catalog.bool_or(a.secret and a.keyed), false) as keyed
    from (
      select a.attname, a.attnum, a.attname ~* ${SECRET} and (t.typcategory = 'S'
          or t.oid in ('pg_catalog.bytea'::pg_catalog.regtype, 'pg_catalog.json'::pg_catalog.regtype, 'pg_catalog.jsonb'::pg_catalog.regtype)) as secret,
        exists (select from pg_catalog.pg_index i where i.indrelid = r.oid and i.indisprimary
          and a.attnum = any (i.indkey::pg_catalog.int2[]))
          or coalesce(pg_catalog.obj_description(r.oid, 'pg_class') ~ ('"primary_key_columns"[^]]*"' || pg_catalog.regexp_replace(a.attname, '([^[:alnum:]_])', '\\\\\\1', 'g') || '"'), false) as keyed
      from pg_catalog.pg_attribute a join pg_catalog.pg_type t on t.oid = a.atttypid
      where a.attrelid = r.oid and a.attnum > 0 and not a.attisdropped
        and pg_catalog.has_column_privilege(api.oid, r.oid, a.attnum, 'SELECT')) a) c
  where api.rolname in ('anon', 'authenticated') and r.relkind <> 'v' and c.secret is not null
    and (not r.relrowsecurity or exists (select from pg_catalog.pg_policy p
      where p.polrelid = r.oid and p.polcmd in ('r', '*') and p.polpermissive
        and p.polroles operator(pg_catalog.&&) array[0::pg_catalog.oid, api.oid]
        and pg_catalog.pg_get_expr(p.polqual, p.polrelid) = 'true'))
    and pg_catalog.has_schema_privilege(api.oid, r.schema, 'USAGE')`

const DEFINER_VIEWS = `select 2, 'the view runs as its owner', 'view ' || r.name,
    'Row-level security of what it reads asks for its owner and not for ' || r.roles || '.',
    case when pg_catalog.current_setting('server_version_num')::pg_catalog.int4 >= 150000
      then 'alter view ' || r.name || ' set (security_invoker = true);'
      else 'revoke all on ' || r.name || ' from ' || r.roles || ';' end
  from relations r where r.relkind = 'v' and r.roles is not null
    and not exists (select from pg_catalog.unnest(r.reloptions) option
      where option ~* '^security_invoker=(true|on|yes|1)$')`

const asSubselect = (expression: string): string =>
  `pg_catalog.regexp_replace(${expression}, ${perRow}, '(select \\1)', 'g')`

const POLICY_CALLS = `select 3, 'the policy asks who is asking for every row',
    'policy ' || pg_catalog.quote_ident(p.polname) || ' on ' || p.name,
    'A call in a sub-select of its own is made once per statement and not once per row.',
    'alter policy ' || pg_catalog.quote_ident(p.polname) || ' on ' || p.name
      || case when p.used is null then '' else ' using (' || ${asSubselect('p.used')} || ')' end
      || case when p.checked is null then '' else ' with check (' || ${asSubselect('p.checked')} || ')' end || ';'
  from policies p where pg_catalog.concat(p.used, ' ', p.checked) ~ ${perRow}`

const columnsText = (relation: string, numbers: string): string => `(
      select pg_catalog.string_agg(pg_catalog.quote_ident(a.attname), ', ' order by k.place)
      from pg_catalog.unnest(${numbers}) with ordinality k(number, place)
      join pg_catalog.pg_attribute a on a.attrelid = ${relation} and a.attnum = k.number)`

/** An index serves when its first columns are those of the key, in any order. */
const FOREIGN_KEYS = `select 4, 'the foreign key has no index',
    'constraint ' || pg_catalog.quote_ident(k.conname) || ' on ' || r.name,
    'Whatever goes from there to here, relations and deletes among it, reads the whole table.',
    'create index on ' || r.name || ' (' || ${columnsText('r.oid', 'k.conkey')} || ');'
  from keys k join relations r on r.oid = k.conrelid
  where not k.temporal and not exists (
    select from indexes i where i.indrelid = r.oid
      and i.columns[1:pg_catalog.cardinality(k.conkey)] operator(pg_catalog.@>) k.conkey)`

/**
 * Columns that policies compare, of the table itself or of one that a sub-select reads, as Postgres prints them: with an
 * alias before them, and cast to text where they are varchar. Columns that a sub-select compares may come later in an index.
 */
const POLICY_COLUMNS = `select distinct 5, 'a column that policies compare has no index',
    'column ' || r.name || '.' || pg_catalog.quote_ident(a.attname),
    'Every statement of a role that the policy is for reads the whole table.',
    'create index on ' || r.name || ' (' || pg_catalog.quote_ident(a.attname) || ');'
  from policies p
  join pg_catalog.pg_depend d on d.classid = 'pg_catalog.pg_policy'::pg_catalog.regclass and d.objid = p.oid
    and d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass and d.refobjsubid > 0
  join relations r on r.oid = d.refobjid and r.relkind in ('r', 'p', 'm')
  join pg_catalog.pg_attribute a on a.attrelid = d.refobjid and a.attnum = d.refobjsubid
  cross join lateral (select pg_catalog.regexp_replace(pg_catalog.quote_ident(a.attname), '([^[:alnum:]_])', '\\\\\\1', 'g')
    || case when a.atttypid = 'pg_catalog.varchar'::pg_catalog.regtype then '(\\)::text)?' else '' end as name) column_
  where p.used ~ '(auth\\.|current_setting\\()'
    and (p.used ~ ('[(.]' || column_.name || ' = ') or p.used ~ (' = \\(?([[:alnum:]_"]+\\.)?' || column_.name || '\\)'))
    and not exists (select from indexes i where i.indrelid = r.oid
      and (i.columns[1] = a.attnum or r.oid <> p.relation and a.attnum = any (i.columns)))`

/** The roles that must read each list, and the state of the list. */
const LISTS = `lists as (
  select role.rolname, role.oid as role, n.oid as schema, c.oid as relation,
    pg_catalog.quote_ident(pg_catalog.json_extract_path_text(l.value, 'table', 'schema')) as in_schema,
    pg_catalog.format('%I.%I', pg_catalog.json_extract_path_text(l.value, 'table', 'schema'),
      pg_catalog.json_extract_path_text(l.value, 'table', 'name')) as name
  from pg_catalog.json_array_elements($2::pg_catalog.json) l
  cross join lateral pg_catalog.json_array_elements_text(pg_catalog.json_extract_path(l.value, 'roles')) governed(name)
  join pg_catalog.pg_roles role on role.rolname::pg_catalog.text = governed.name
  left join pg_catalog.pg_namespace n
    on n.nspname::pg_catalog.text = pg_catalog.json_extract_path_text(l.value, 'table', 'schema')
  left join pg_catalog.pg_class c on c.relnamespace = n.oid
    and c.relname::pg_catalog.text = pg_catalog.json_extract_path_text(l.value, 'table', 'name')
)`

const columnOfList = (name: string): string => `exists (select from pg_catalog.pg_attribute a
      where a.attrelid = l.relation and a.attname = '${name}' and a.attnum > 0
        and pg_catalog.has_column_privilege(l.role, l.relation, a.attnum, 'SELECT'))`

const UNREADABLE_LISTS = `select 0, 'the allow-list cannot be read', 'table ' || l.name,
    'Nothing is listed for ' || pg_catalog.quote_ident(l.rolname) || ', which may therefore run nothing.',
    case when l.schema is null then 'create schema ' || l.in_schema || '; ' else '' end
      || case when l.relation is null then 'create table ' || l.name || ' (hash text primary key, document text not null); '
        else '' end
      || 'grant usage on schema ' || l.in_schema || ' to ' || pg_catalog.quote_ident(l.rolname)
      || '; grant select on ' || l.name || ' to ' || pg_catalog.quote_ident(l.rolname) || ';'
  from lists l
  where l.schema is null or l.relation is null or not pg_catalog.has_schema_privilege(l.role, l.schema, 'USAGE')
    or not (${columnOfList('hash')} and ${columnOfList('document')})`

/** Instead of SQL with the schema's comment, to which the limits are added: see limits.ts. */
const NO_LIMITS = `select 1, '${noLimits}', 'schema ' || pg_catalog.quote_ident(n.nspname),
    'A document of two hundred bytes can keep a connection busy for as long as a statement may run. '
      || 'These numbers are to begin with: catalograph cost tells what your documents need.',
    coalesce(pg_catalog.obj_description(n.oid, 'pg_namespace'), '')
  from pg_catalog.pg_namespace n where n.nspname = $3`

/** A schema is checked because its comment asks for the report, so the object in its comment has a member. */
const EXTENSIONS = `select 2, 'what extensions brought is in the API', 'schema ' || pg_catalog.quote_ident(n.nspname),
    pg_catalog.quote_ident(current_user) || ' may call ' || pg_catalog.json_extract_path_text(m.value, 'fields') || '.',
    'comment on schema ' || pg_catalog.quote_ident(n.nspname) || ' is ' || pg_catalog.quote_literal(pg_catalog.regexp_replace(
      pg_catalog.obj_description(n.oid, 'pg_namespace'), '@graphql\\(\\s*{', '@graphql({"extensions": {"enabled": false}, ')) || ';'
  from pg_catalog.json_array_elements($4::pg_catalog.json) m
  join pg_catalog.pg_namespace n on n.nspname::pg_catalog.text = pg_catalog.json_extract_path_text(m.value, 'schema')
  where pg_catalog.strpos(pg_catalog.obj_description(n.oid, 'pg_namespace'), '"extensions"') = 0`

const problems = [
  ROW_SECURITY,
  NO_LIMITS,
  UNREADABLE_LISTS,
  SECRETS,
  BEYOND_POLICIES,
  DEFINER_VIEWS,
  EXTENSIONS,
  POLICY_CALLS,
  FOREIGN_KEYS,
  POLICY_COLUMNS,
  RULES,
  PERIODS,
  UNRELATED,
]

const adviceText = `with ${[API_ROLES, RELATIONS, INDEXES, KEYS, POLICIES, LISTS].join(', ')}
select coalesce(pg_catalog.json_agg(pg_catalog.json_build_object(
    'problem', x.problem, 'object', x.object, 'message', x.message, 'sql', x.sql) order by x.rank, x.object, x.sql), '[]')
from (
  ${problems.join('\n  union all\n  ')}
) x`
