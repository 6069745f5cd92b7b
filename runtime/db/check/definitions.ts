import { compareBytes } from '../../lib/byte-order.ts'
import { sha256Hex } from '../../lib/sha256.ts'

/**
 * By what it is decided what reading something reads: policies, views, functions, and those that they name. What a subscription
 * watches was found out of these when it was compiled, and holds as long as they say the same.
 */

/** A relation, or the functions of a name. */
export type Start = readonly [schema: string, name: string]

/** An object that is reached from where reading starts. */
export interface Definition {
  readonly schema: string
  readonly name: string
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
  // A Set's iterator also visits what is added meanwhile.
  for (const key of reached)
    for (const { leads } of definitions.get(key) ?? []) leads.forEach((to) => reached.add(keyOf(to)))
  const texts = [...reached].flatMap((key) => (definitions.get(key) ?? []).map(({ says }) => `${key} ${says}`))
  return sha256Hex(texts.toSorted(compareBytes).join('\n')).slice(0, 16)
}

const classOf = (catalog: string): string => `'pg_catalog.${catalog}'::pg_catalog.regclass::pg_catalog.oid`
const [relation, routine] = [classOf('pg_class'), classOf('pg_proc')]

/** Objects that came with the server decide nothing that changes. */
const own = (oid: string): string => `${oid} >= '16384'::pg_catalog.oid`

/** Words of a body that may be names, as they stand there and in lower case. */
const words = (source: string): string => `(select distinct w.word from pg_catalog.regexp_matches(${source},
    '"((?:[^"]|"")+)"|([[:alpha:]_][[:alnum:]_$]*)', 'g') m (found)
  cross join lateral (values (pg_catalog.replace(m.found[1], '""', '"')), (m.found[2]), (pg_catalog.lower(m.found[2]))) w (word)
  where w.word is not null)`

/** What an object `r` depends on. A name in a body that stands there for something else makes it depend on more, and never less. */
const leads = `(
  select d.refclassid as class, d.refobjid as oid from pg_catalog.pg_depend d
  join (select r.class, r.oid
    union all select ${classOf('pg_policy')}, y.oid from pg_catalog.pg_policy y where r.class = ${relation} and y.polrelid = r.oid
    union all select ${classOf('pg_rewrite')}, w.oid from pg_catalog.pg_rewrite w where r.class = ${relation} and w.ev_class = r.oid
  ) part on d.classid = part.class and d.objid = part.oid
  where d.refclassid in (${relation}, ${routine}) and ${own('d.refobjid')}
  union select ${routine}, p.oid from pg_catalog.pg_proc f cross join lateral ${words('f.prosrc')} n
    join pg_catalog.pg_proc p on p.proname = n.word::pg_catalog.name
    where r.class = ${routine} and f.oid = r.oid and f.prosqlbody is null and ${own('p.oid')}
  union select ${relation}, c.oid from pg_catalog.pg_proc f cross join lateral ${words('f.prosrc')} n
    join pg_catalog.pg_class c on c.relname = n.word::pg_catalog.name
    where r.class = ${routine} and f.oid = r.oid and f.prosqlbody is null and ${own('c.oid')}
      and c.relkind in ('r', 'p', 'v', 'm', 'f'))`

/** What prints names stands behind `case path.value when ''`, so it cannot run before the search path is empty. */
const relationSays = `select pg_catalog.concat_ws(' ', c.relkind, c.relrowsecurity,
    case when c.relkind = 'v' then pg_catalog.pg_get_viewdef(c.oid) end,
    case when c.relrowsecurity then (select pg_catalog.string_agg(q.qual, ' ' order by q.qual collate "C")
      from (select pg_catalog.pg_get_expr(y.polqual, y.polrelid) as qual from pg_catalog.pg_policy y
        where y.polrelid = c.oid and y.polcmd in ('r', '*')) q) end)`

const routineSays = `select pg_catalog.concat_ws(' ', p.provolatile, p.proconfig, p.prosrc,
    pg_catalog.pg_get_function_sqlbody(p.oid), case when d.description like '%"live"%' then d.description end)`

/**
 * The statement's lists `path`, `reached` and `named`, and an expression: a JSON list of `Definition`, of all that is reached.
 * @param starts the place of a JSON list of schema and name; a name of null stands for all of the schema
 */
export const definitionsSql = (starts: string): { readonly lists: string; readonly expression: string } => ({
  lists: `path as materialized (select pg_catalog.set_config('search_path', '', true) as value),
start as materialized (select s.item ->> 0 as schema, s.item ->> 1 as name from pg_catalog.json_array_elements(${starts}::json) s (item)),
reached (class, oid) as (
  (select ${relation}, c.oid from start join pg_catalog.pg_namespace n on n.nspname = start.schema
    join pg_catalog.pg_class c on c.relnamespace = n.oid and (start.name is null or c.relname = start.name)
    where c.relkind in ('r', 'p', 'v', 'm', 'f')
  union select ${routine}, p.oid from start join pg_catalog.pg_namespace n on n.nspname = start.schema
    join pg_catalog.pg_proc p on p.pronamespace = n.oid and (start.name is null or p.proname = start.name))
  union select l.class, l.oid from reached r cross join lateral ${leads} l),
named as materialized (select r.class, r.oid, n.nspname as schema, coalesce(c.relname, p.proname) as name
  from reached r left join pg_catalog.pg_class c on r.class = ${relation} and c.oid = r.oid
  left join pg_catalog.pg_proc p on r.class = ${routine} and p.oid = r.oid
  join pg_catalog.pg_namespace n on n.oid = coalesce(c.relnamespace, p.pronamespace))`,
  expression: `(select coalesce(pg_catalog.json_agg(pg_catalog.json_build_object('schema', r.schema, 'name', r.name,
    'says', case path.value when '' then case r.class
      when ${relation} then (${relationSays} from pg_catalog.pg_class c where c.oid = r.oid)
      else (${routineSays} from pg_catalog.pg_proc p left join pg_catalog.pg_description d
        on d.objoid = p.oid and d.classoid = ${routine} where p.oid = r.oid) end end,
    'leads', (select coalesce(pg_catalog.json_agg(pg_catalog.json_build_array(t.schema, t.name)), '[]')
      from ${leads} l join named t on t.class = l.class and t.oid = l.oid))), '[]') from named r cross join path)`,
})
