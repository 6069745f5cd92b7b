import { compareBytes, sha256Hex } from '../../lib/text.ts'

/**
 * The definitions that decide which relations a read reads: policies, views, functions, and those that they name. The
 * interests of a compiled subscription follow from them, and hold while they are unchanged.
 */

/** A relation, or the functions of a name. */
export type Start = readonly [schema: string, name: string]

/** A relation or function. */
export interface Definition {
  readonly schema: string
  readonly name: string
  /** A hash. */
  readonly says: string
  readonly leads: readonly Start[]
}

/** By `JSON.stringify` of schema and name, all objects of that name. */
export type Definitions = ReadonlyMap<string, readonly Definition[]>

export function byName(all: readonly Definition[]): Definitions {
  const found = new Map<string, Definition[]>()
  for (const one of all) {
    const key = keyOf([one.schema, one.name])
    found.set(key, [...(found.get(key) ?? []), one])
  }
  return found
}

const keyOf = ([schema, name]: Start): string => JSON.stringify([schema, name])

/** A hash of all that is reached; the same in every database that says the same. */
export function definitionOf(starts: readonly Start[], definitions: Definitions): string {
  const reached = new Set(starts.map(keyOf))
  // A Set's iterator also visits items that are added during the iteration.
  for (const key of reached)
    for (const { leads } of definitions.get(key) ?? []) leads.forEach((to) => reached.add(keyOf(to)))
  const texts = [...reached].flatMap((key) => (definitions.get(key) ?? []).map(({ says }) => `${key} ${says}`))
  return sha256Hex(texts.toSorted(compareBytes).join('\n')).slice(0, 16)
}

const classOf = (catalog: string): string => `'pg_catalog.${catalog}'::pg_catalog.regclass::pg_catalog.oid`
const [relation, routine] = [classOf('pg_class'), classOf('pg_proc')]

/** Objects that came with the server decide nothing that changes. */
const own = (oid: string): string => `${oid} >= '16384'::pg_catalog.oid`

/** The functions that print names are behind `case path.value when ''`, so they run with an empty search path. */
const relationSays = `case path.value when '' then pg_catalog.concat_ws(' ', c.relkind, c.relrowsecurity,
    case when c.relkind = 'v' then pg_catalog.pg_get_viewdef(c.oid) end, case when c.relrowsecurity then policies.said end) end`

const policies = `select y.polrelid, pg_catalog.string_agg(case path.value when '' then pg_catalog.pg_get_expr(y.polqual, y.polrelid) end, ' '
    order by y.polname) as said
  from path cross join pg_catalog.pg_policy y where y.polcmd in ('r', '*') group by y.polrelid`

const routineSays = `case path.value when '' then pg_catalog.concat_ws(' ', p.provolatile, p.proconfig, p.prosrc,
    pg_catalog.pg_get_function_sqlbody(p.oid), case when d.description like '%"live"%' then d.description end) end`

/** Names in a body, as they stand there and in lower case; one that stands there for something else leads too far, and never less. */
const words = `pg_catalog.regexp_matches(p.prosrc, '"((?:[^"]|"")+)"|([[:alpha:]_][[:alnum:]_$]*)', 'g') m (found)
  cross join lateral (values (pg_catalog.replace(m.found[1], '""', '"')), (m.found[2]), (pg_catalog.lower(m.found[2]))) w (word)`

/**
 * Lists of a statement that has `wanted`, SQL of whether there are to be any, and an expression: a JSON list of `Definition`, of
 * all relations and functions.
 */
export const definitionsSql = (wanted: string): { readonly lists: string; readonly expression: string } => ({
  lists: `path as materialized (select pg_catalog.set_config('search_path', '', true) as value where ${wanted}),
object as materialized (
  select ${relation} as class, c.oid, n.nspname::pg_catalog.text as schema, c.relname::pg_catalog.text as name, ${relationSays} as says
  from path cross join pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  left join (${policies}) policies on policies.polrelid = c.oid
  where c.relkind in ('r', 'p', 'v', 'm', 'f') and ${own('c.oid')}
  union all select ${routine}, p.oid, n.nspname, p.proname, ${routineSays}
  from path cross join pg_catalog.pg_proc p join pg_catalog.pg_namespace n on n.oid = p.pronamespace
  left join pg_catalog.pg_description d on d.objoid = p.oid and d.classoid = ${routine} where ${own('p.oid')}),
part as (
  select o.class, o.oid, o.class as "partClass", o.oid as part from object o
  union all select o.class, o.oid, ${classOf('pg_policy')}, y.oid from object o join pg_catalog.pg_policy y on y.polrelid = o.oid
    where o.class = ${relation}
  union all select o.class, o.oid, ${classOf('pg_rewrite')}, w.oid from object o join pg_catalog.pg_rewrite w on w.ev_class = o.oid
    where o.class = ${relation}),
lead as (
  select part.class, part.oid, d.refclassid as "toClass", d.refobjid as "to" from part
  join pg_catalog.pg_depend d on d.classid = part."partClass" and d.objid = part.part
  union select o.class, o.oid, t.class, t.oid from object o join pg_catalog.pg_proc p on p.oid = o.oid
  cross join lateral ${words} join object t on t.name = w.word where o.class = ${routine} and p.prosqlbody is null),
led as materialized (
  select l.class, l.oid, pg_catalog.json_agg(pg_catalog.json_build_array(t.schema, t.name)) as leads
  from lead l join object t on t.class = l."toClass" and t.oid = l."to" group by l.class, l.oid)`,
  expression: `(select coalesce(pg_catalog.json_agg(pg_catalog.json_build_object('schema', o.schema, 'name', o.name,
    'says', pg_catalog.md5(o.says), 'leads', coalesce(led.leads, '[]'))), '[]')
  from object o left join led on led.class = o.class and led.oid = o.oid)`,
})
