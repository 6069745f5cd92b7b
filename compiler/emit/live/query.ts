import { PATH } from '../../catalog/queries.ts'
import { aclOf, classOf } from '../../catalog/queries/extent.ts'
import { bool, eachOf, integer, nullable, oneWordOf, text, type Read } from '../../catalog/catalog-rows.ts'
import type { Oid } from '../../catalog/catalog.ts'

/** Objects of the initial database. */
const isSystem = `n.nspname in ('pg_catalog', 'information_schema', 'pg_toast')`

const described = (catalog: string, oid: string): string => `(select d.description from pg_catalog.pg_description d
      where d.classoid = ${classOf(catalog)} and d.objoid = ${oid} and d.objsubid = '0')`

/** The distinct names of grantees in aclitems `item`; `public` is PUBLIC. */
const granteesIn = (
  items: string,
): string => `array(select distinct coalesce(g.rolname, 'public')::pg_catalog.text as name
      from ${items} left join pg_catalog.pg_roles g on g.oid = item.grantee
      where item.grantee = '0' or g.oid is not null order by name)`

/** CREATE alone does not give access to the objects of a schema. */
const usage = granteesIn(`(select item.grantee from pg_catalog.aclexplode(${aclOf('n.nspacl', 'n', 'n.nspowner')}) item
        where item.privilege_type = 'USAGE') item`)

const relationRights =
  granteesIn(`(select item.grantee from pg_catalog.aclexplode(${aclOf('c.relacl', 'r', 'c.relowner')}) item
        union all select item.grantee from pg_catalog.pg_attribute a cross join lateral pg_catalog.aclexplode(a.attacl) item
        where a.attrelid = c.oid and not a.attisdropped) item`)

const functionRights = granteesIn(`pg_catalog.aclexplode(${aclOf('p.proacl', 'f', 'p.proowner')}) item`)

/** A gate has a bit for each column (live-bodies.ts). */
const lastPinned = 62

/** Types without two texts for equal values. */
const plainTypes = ['int2', 'int4', 'int8', 'uuid', 'bool', 'date', 'text', 'varchar']

const hasOneText = `(t.typtype = 'e' or t.oid in (${plainTypes.map((type) => `'pg_catalog.${type}'::pg_catalog.regtype::pg_catalog.oid`).join(', ')}))
      and not exists (select from pg_catalog.pg_collation o where o.oid = a.attcollation and not o.collisdeterministic)`

const relations = (
  hasTriggers: string,
): string => `select c.oid::pg_catalog.text as oid, n.nspname as schema, c.relname as name,
    c.relkind as kind, ${isSystem} as system, ${described('pg_class', 'c.oid')} as comment,
    ${described('pg_namespace', 'n.oid')} as "schemaComment",
    array(select i.inhparent::pg_catalog.text from pg_catalog.pg_inherits i
      where i.inhrelid = c.oid order by i.inhseqno) as parents,
    array(select i.inhrelid::pg_catalog.text from pg_catalog.pg_inherits i
      where i.inhparent = c.oid order by i.inhrelid) as children,
    array(select y.polqual::pg_catalog.text from pg_catalog.pg_policy y
      where c.relrowsecurity and not ${isSystem} and y.polrelid = c.oid and y.polcmd in ('r', '*') and y.polqual is not null
      union all select r.ev_action::pg_catalog.text from pg_catalog.pg_rewrite r
      where not ${isSystem} and r.ev_class = c.oid and r.ev_type = '1') as trees,
    array(select a.attname::pg_catalog.text from pg_catalog.pg_attribute a
      join pg_catalog.pg_type t on t.oid = a.atttypid
      where a.attrelid = c.oid and a.attnum between '1' and '${lastPinned}' and not a.attisdropped and a.attgenerated <> 'v' and ${hasOneText}
      order by a.attnum) as pins,
    ${usage} as usage, ${relationRights} as rights,
    exists (select from pg_catalog.pg_subscription_rel s where s.srrelid = c.oid) as subscribed,
    c.relkind in ('r', 'p') and ${hasTriggers} as reported
  from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  where c.oid = any ($1::pg_catalog.oid[]) order by c.oid`

const aggregateParts = ['aggtransfn', 'aggfinalfn', 'aggmtransfn', 'aggminvtransfn', 'aggmfinalfn']

const functions = `select p.oid::pg_catalog.text as oid, n.nspname as schema, p.proname as name, ${isSystem} as system,
    case path.value when '' then array(select pg_catalog.format_type(t.type, null)
      from pg_catalog.unnest(p.proargtypes::pg_catalog.oid[]) with ordinality t(type, place) order by t.place) end as types,
    l.lanname as language, p.provolatile as volatility, p.prokind as kind,
    case when ${isSystem} then '' else p.prosrc end as source, p.prosqlbody::pg_catalog.text as body,
    p.proargdefaults::pg_catalog.text as defaults, ${described('pg_proc', 'p.oid')} as comment,
    (select pg_catalog.substr(set.entry, 13) from pg_catalog.unnest(p.proconfig) set(entry)
      where pg_catalog.starts_with(set.entry, 'search_path=')) as path,
    array(select part.oid::pg_catalog.oid::pg_catalog.text from pg_catalog.pg_aggregate a
      cross join lateral (values ${aggregateParts.map((part) => `(a.${part})`).join(', ')}) part(oid)
      where a.aggfnoid::pg_catalog.oid = p.oid and part.oid::pg_catalog.oid <> '0') as parts,
    array(select coalesce(p.proargnames[place], '') from pg_catalog.generate_series(1, argument_count) place) as "argNames",
    array(select case p.proargmodes[place] when 'o' then 'out' when 'b' then 'inout' when 'v' then 'variadic'
        when 't' then 'out' else '' end from pg_catalog.generate_series(1, argument_count) place) as "argModes",
    ${usage} as usage, ${functionRights} as rights,
    p.prorettype = 'pg_catalog.void'::pg_catalog.regtype::pg_catalog.oid as "returnsVoid", p.proretset as "returnsSet"
  from pg_catalog.pg_proc p join pg_catalog.pg_namespace n on n.oid = p.pronamespace
  join pg_catalog.pg_language l on l.oid = p.prolang cross join path
  cross join lateral (select coalesce(pg_catalog.cardinality(p.proallargtypes), p.pronargs::pg_catalog.int4)) a(argument_count)
  where p.oid = any ($2::pg_catalog.oid[]) or p.oid = any (array(select o.oprcode::pg_catalog.oid
    from pg_catalog.pg_operator o where o.oid = any ($3::pg_catalog.oid[])))
  order by p.oid`

const operators = `select o.oid::pg_catalog.text as oid, o.oprcode::pg_catalog.oid::pg_catalog.text as code
  from pg_catalog.pg_operator o where o.oid = any ($3::pg_catalog.oid[])`

const rows = (query: string): string => `(select pg_catalog.json_agg(pg_catalog.row_to_json(x)) from (${query}) x)`

const fits = `(asked.args is null or p.provariadic <> '0'
      or asked.args between p.pronargs - p.pronargdefaults and p.pronargs)`
const inReach = (alias: string): string =>
  `(case when asked.schema is null then ${alias}.nspname = any (asked.path) else ${alias}.nspname = asked.schema end)`

const asked = `asked as materialized (
  select * from pg_catalog.json_to_recordset($4::pg_catalog.json)
    as asked(id pg_catalog.int4, kind pg_catalog.text, schema pg_catalog.text, name pg_catalog.text,
      args pg_catalog.int4, path pg_catalog.text[])
)`

/** A row for each object that a name may denote: `id` of the name, `kind`, `oid`. */
const names = `(select distinct on (asked.id) asked.id, 'relation' as kind, c.oid::pg_catalog.text as oid
from asked join pg_catalog.pg_class c on c.relname = asked.name and c.relkind in ('r', 'p', 'v', 'm', 'f')
join pg_catalog.pg_namespace n on n.oid = c.relnamespace
where asked.kind = 'relation' and ${inReach('n')}
order by asked.id, pg_catalog.array_position(asked.path, n.nspname::pg_catalog.text))
union all select asked.id, 'function', p.oid::pg_catalog.text
from asked join pg_catalog.pg_proc p on p.proname = asked.name
join pg_catalog.pg_namespace n on n.oid = p.pronamespace
where asked.kind = 'function' and ${inReach('n')} and ${fits}
union all select asked.id, 'function', p.oid::pg_catalog.text
from asked join pg_catalog.pg_proc p on p.proname = asked.name and p.pronargs = 1
join pg_catalog.pg_namespace n on n.oid = p.pronamespace
join pg_catalog.pg_type t on t.oid = p.proargtypes[0]
where asked.kind = 'field' and ${inReach('n')} and n.nspname <> 'pg_catalog' and t.typtype = 'c'
union all select asked.id, 'function', o.oprcode::pg_catalog.oid::pg_catalog.text
from asked join pg_catalog.pg_operator o on o.oprname = asked.name
join pg_catalog.pg_namespace n on n.oid = o.oprnamespace
where asked.kind = 'operator' and ${inReach('n')} and n.nspname <> 'pg_catalog'
union all select asked.id, 'function', k.castfunc::pg_catalog.text
from asked join pg_catalog.pg_type t on t.typname = asked.name
join pg_catalog.pg_cast k on k.casttarget = t.oid and k.castfunc >= '16384'::pg_catalog.oid
where asked.kind = 'cast'`

/**
 * Reads relations $1, functions $2 and the functions of operators $3, all oid[], and looks names up, as the JSON text
 * `objects`. $4 is a JSON list of the names in bodies (mentions.ts), each with its `id` and its `path`, which includes
 * pg_catalog.
 *
 * @param hasTriggers SQL of type boolean: whether triggers report changes of the relation `c` of pg_class
 */
export const objectsQuery = (hasTriggers: string): string => `with ${PATH}, ${asked}
select pg_catalog.json_build_object('relations', ${rows(relations(hasTriggers))}, 'functions', ${rows(functions)},
  'operators', ${rows(operators)}, 'names', ${rows(names)})::pg_catalog.text as objects`

/** The facts about objects that a read depends on (query.ts). */

const relation = {
  oid: text,
  schema: text,
  name: text,
  kind: oneWordOf('r', 'p', 'v', 'm', 'f', 't', 'S'),
  /** It belongs to Postgres. */
  system: bool,
  comment: nullable(text),
  schemaComment: nullable(text),
  parents: eachOf(text),
  children: eachOf(text),
  /** Conditions of its enabled policies, and a view's select: as pg_node_tree. */
  trees: eachOf(text),
  /** Columns whose equal values are equal texts. */
  pins: eachOf(text),
  /** Grantees of USAGE on its schema, and of some privilege on it or on a column. */
  usage: eachOf(text),
  rights: eachOf(text),
  subscribed: bool,
  reported: bool,
}

const fn = {
  oid: text,
  schema: text,
  name: text,
  system: bool,
  types: eachOf(text),
  language: text,
  volatility: oneWordOf('i', 's', 'v'),
  kind: oneWordOf('f', 'p', 'a', 'w'),
  source: text,
  /** A parsed body and the defaults of arguments: as pg_node_tree. */
  body: nullable(text),
  defaults: nullable(text),
  comment: nullable(text),
  /** Its own search path. */
  path: nullable(text),
  /** Functions of an aggregate. */
  parts: eachOf(text),
  argNames: eachOf(text),
  argModes: eachOf(text),
  /** Grantees of USAGE on its schema, and of EXECUTE. */
  usage: eachOf(text),
  rights: eachOf(text),
  returnsVoid: bool,
  returnsSet: bool,
}

const operator = { oid: text, code: text }

const named = { id: integer, kind: oneWordOf('relation', 'function'), oid: text }

type RowOf<Shape extends Readonly<Record<string, Read<unknown>>>> = {
  readonly [Name in keyof Shape]: Shape[Name] extends Read<infer T> ? T : never
}

export type RelationRow = RowOf<typeof relation>
export type FunctionRow = RowOf<typeof fn>

export interface ReadObjects {
  readonly relations: readonly RelationRow[]
  readonly functions: readonly FunctionRow[]
  readonly operators: readonly { readonly oid: Oid; readonly code: Oid }[]
  /** The possible meanings of names, by their ids. */
  readonly names: readonly RowOf<typeof named>[]
}

const readRows =
  <Shape extends Readonly<Record<string, Read<unknown>>>>(shape: Shape): Read<readonly RowOf<Shape>[]> =>
  (value) =>
    eachOf((row) => row as Readonly<Record<string, unknown>>)(value ?? []).map(
      (row) => Object.fromEntries(Object.entries(shape).map(([name, read]) => [name, read(row[name])])) as RowOf<Shape>,
    )

/** @throws TypeError if the answer has another shape */
export function decodeObjects(answer: string): ReadObjects {
  const lists = JSON.parse(answer) as Readonly<Record<keyof ReadObjects, unknown>>
  return {
    relations: readRows(relation)(lists.relations),
    functions: readRows(fn)(lists.functions),
    operators: readRows(operator)(lists.operators),
    names: readRows(named)(lists.names),
  }
}
