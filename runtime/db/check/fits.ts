import type { Query } from '../connect/session.ts'
import type { Grantee, RoleFacts } from '../../contract/manifest.ts'
import { byName, definitionsSql, type Definition, type Definitions } from './definitions.ts'
import { versionExpression } from './version.ts'

/** Whether a database has what statements name that were written for it before. */

/** By schema and relation: the SQL types of columns by their names; null: a function makes it, of any type. */
export type NamedRelations = Readonly<Record<string, Readonly<Record<string, NamedColumns>>>>
export type NamedColumns = Readonly<Record<string, string | null>>
export type NamedFunction = readonly [schema: string, name: string]

/** A relation that is not there, or a column that is not there or is of another type. */
export type LostColumn = readonly [schema: string, relation: string, column: string | null]

export interface ObjectCheck {
  /** The schema version that this was seen at; null: nothing counts it, so that requests cannot check it. */
  readonly version: string | null
  readonly columns: readonly LostColumn[]
  readonly functions: readonly NamedFunction[]
  readonly definitions: Definitions
  /** The facts of the existing roles, as far as the holders go. */
  readonly roles: Readonly<Record<string, RoleFacts>>
}

/** Event triggers count changes of the schema (compiler/following/prepare). */
const followed = `(select count(*) = 2 from pg_catalog.pg_event_trigger
  where evtname in ('catalograph_ddl_command_end', 'catalograph_sql_drop') and evtenabled <> 'D')`

/** The type of a text, or null. A schema that the login role may not use is skipped: a lookup would fail. */
const namedType = `case when w.value like '%.%' and not coalesce(pg_catalog.has_schema_privilege(pg_catalog.to_regnamespace(
    pg_catalog.quote_ident((pg_catalog.parse_ident(w.value, false))[1]))::oid, 'USAGE'), true)
  then a.atttypid else pg_catalog.to_regtype(w.value)::oid end`

/** True where both types are of the same values: a domain, and what it is of; of arrays their elements decide. */
const sameValues = `(with recursive part (side, oid, listed) as (
    select s.side, s.oid, false from (values (1, a.atttypid), (2, named.oid)) s (side, oid)
    union all
    select p.side, case t.typtype when 'd' then t.typbasetype else t.typelem end, p.listed or t.typtype <> 'd'
    from part p join pg_catalog.pg_type t on t.oid = p.oid where t.typtype = 'd' or t.typcategory = 'A')
  select pg_catalog.count(*) = 2 and pg_catalog.count(distinct (p.oid, p.listed)) = 1
  from part p join pg_catalog.pg_type t on t.oid = p.oid where t.typtype <> 'd' and t.typcategory <> 'A')`

const lostColumns = `(select pg_catalog.json_agg(pg_catalog.json_build_array(s.key, r.key, w.key))
  from pg_catalog.json_each($1::json) s cross join lateral pg_catalog.json_each(s.value) r
  left join lateral (select c.oid from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
    where n.nspname = s.key and c.relname = r.key) c on true
  left join lateral pg_catalog.json_each_text(r.value) w on c.oid is not null
  left join lateral (select a.atttypid from pg_catalog.pg_attribute a
    where a.attrelid = c.oid and a.attname = w.key and a.attnum > 0 and not a.attisdropped) a on true
  left join lateral (select ${namedType} as oid where w.value is not null) named on true
  where c.oid is null or w.key is not null
    and (a.atttypid is null or w.value is not null and a.atttypid is distinct from named.oid and not ${sameValues}))`

const lostFunctions = `(select pg_catalog.json_agg(f.item) from pg_catalog.json_array_elements($2::json) f (item)
  where not exists (select from pg_catalog.pg_proc p join pg_catalog.pg_namespace n on n.oid = p.pronamespace
    where n.nspname = f.item ->> 0 and p.proname = f.item ->> 1))`

const stamp = `${versionExpression} as version, ${followed} as followed`

/** The schema version alone, as in `ObjectCheck`. Rejects as `checkObjects` does. */
export async function versionOf(query: Query): Promise<string | null> {
  const { rows } = await query<Pick<Row, 'version' | 'followed'>>(`select ${stamp}`)
  return rows[0]?.followed === true ? rows[0].version : null
}

/** As the check of every request compares it. */
const roleFacts = `(select pg_catalog.json_object_agg(r.rolname, pg_catalog.json_build_object('superuser', r.rolsuper, 'effective',
    array(select h.name from pg_catalog.json_array_elements_text($5::json) h (name)
      left join pg_catalog.pg_roles held on held.rolname = h.name
      where h.name in ('public', r.rolname) or held.oid is not null and pg_catalog.pg_has_role(r.oid, held.oid, 'USAGE'))))
  from pg_catalog.pg_roles r where r.rolname in (select pg_catalog.json_array_elements_text($4::json)))`

const definitions = definitionsSql('$3::boolean')

/** One statement, so that all of it is of one version. */
const text = `with ${definitions.lists}
select ${stamp}, ${lostColumns} as columns, ${lostFunctions} as functions, ${definitions.expression} as definitions,
  ${roleFacts} as roles`

interface Row {
  readonly version: string
  readonly followed: boolean
  readonly columns: ObjectCheck['columns'] | null
  readonly functions: ObjectCheck['functions'] | null
  readonly definitions: readonly Definition[]
  readonly roles: ObjectCheck['roles'] | null
}

export interface Sought {
  readonly relations: NamedRelations
  readonly functions: readonly NamedFunction[]
  /** Whether definitions are asked for. */
  readonly wantsDefinitions: boolean
  readonly roles: readonly string[]
  /** Those that hold privileges on what is served. */
  readonly holders: readonly Grantee[]
}

/** The missing ones of these. Rejects with DatabaseFailure, of class 3F or 42 where the database is not prepared. */
export async function checkObjects(query: Query, sought: Sought): Promise<ObjectCheck> {
  const { relations, functions, wantsDefinitions, roles: asking, holders } = sought
  const { rows } = await query<Row>(
    text,
    [relations, functions, wantsDefinitions, asking, holders].map((one) => JSON.stringify(one)),
  )
  const [row] = rows
  if (row === undefined) throw new Error('a select without FROM answers one row')
  const { version, followed: isFollowed, columns, functions: lost, definitions: found, roles } = row
  return {
    version: isFollowed ? version : null,
    columns: columns ?? [],
    functions: lost ?? [],
    definitions: byName(found),
    roles: roles ?? {},
  }
}

/** The definitions that decide which relations a read reads. Rejects with DatabaseFailure. */
export async function allDefinitions(query: Query): Promise<Definitions> {
  const { lists, expression } = definitionsSql('true')
  const { rows } = await query<Pick<Row, 'definitions'>>(`with ${lists} select ${expression} as definitions`)
  return byName(rows[0]?.definitions ?? [])
}
