import { text } from './catalog-rows.ts'
import type { Catalog, Oid } from './catalog.ts'

/**
 * Tables for which no trigger, default or policy of an insert reads other rows: several inserts may then be one
 * statement (spec/graphql.md 17.6). Policies of all roles and commands count, because the returned rows must meet those
 * for reading, too. Immutable expressions (generated columns, indexes) are declared not to read.
 */

const literals = (names: readonly string[]): string => `'{${names.join(',')}}'::pg_catalog.text[]`

/** Functions of Postgres that are declared stable and read any table. */
const reading = String.raw`_to_xml`

/** Volatile ones that read none: of Postgres, and of extensions for generating values. */
const drawing = [
  'nextval',
  'random',
  'random_normal',
  'gen_random_uuid',
  'uuidv4',
  'uuidv7',
  'clock_timestamp',
  'timeofday',
]
const drawingByExtension = [
  'uuid_generate_v1',
  'uuid_generate_v1mc',
  'uuid_generate_v4',
  'gen_random_uuid',
  'gen_random_bytes',
]

/** Bodies of SQL that compute with constants and settings, like those of auth.uid(): any other word may read. */
const ofSettings = String.raw`^(?:\s|[(),;]|'[^']*'|::|->>?|#>>?|\m(?:select|as|coalesce|nullif|true|false|null|(?:pg_catalog\.)?current_setting|text|varchar|jsonb?|uuid|bool|boolean|smallint|integer|bigint|int[248]?)\M)*$`

/**
 * Whether the function with this alias of pg_proc reads no rows.
 * @param readsParsed whether its body may, if Postgres stores it parsed
 */
const readsNothing = (fn: string, readsParsed: string): string => `(${fn}.provolatile = 'i'
      or ${fn}.oid < '16384'::pg_catalog.oid and (${fn}.provolatile = 's' and ${fn}.proname !~ '${reading}'
        or ${fn}.proname = any (${literals(drawing)}))
      or ${language(fn)} = 'c' and ${fn}.proname = any (${literals(drawingByExtension)})
      or ${language(fn)} = 'sql' and case when ${fn}.prosqlbody is null then ${fn}.prosrc ~* '${ofSettings.replaceAll("'", "''")}'
        else not ${readsParsed} end)`

const language = (fn: string): string => `(select l.lanname from pg_catalog.pg_language l where l.oid = ${fn}.prolang)`

const numbersIn = (tree: string, members: string): string =>
  `select found[1]::pg_catalog.oid from pg_catalog.regexp_matches(${tree}, ':(?:${members}) (\\d+)', 'g') found`

/** Whether an expression as Postgres stores it may read rows (compiler/emit/live/node-tree.ts reads such trees). */
const reads = (tree: string, fn: string, isHarmless: string): string => `(${tree} ~ ':relid [1-9]' or exists (
      select from pg_catalog.pg_proc ${fn} where not ${isHarmless}
        and ${fn}.oid = any (array(${numbersIn(tree, 'funcid|opfuncid|aggfnoid|winfnoid')}
          union select o.oprcode::pg_catalog.oid from pg_catalog.pg_operator o
          where o.oid = any (array(${numbersIn(tree, 'opno|eqop|sortop')}
            union select pg_catalog.unnest(pg_catalog.string_to_array(pg_catalog.btrim(found[1]), ' ')::pg_catalog.oid[])
            from pg_catalog.regexp_matches(${tree}, ':opnos \\(o ([\\d ]+)\\)', 'g') found))))))`

/** Of functions that a parsed body calls, those with such a body count as reading. */
const readsInBody = reads('p.prosqlbody::pg_catalog.text', 'q', readsNothing('q', 'true'))

const trees = [
  'select y.polqual::pg_catalog.text from pg_catalog.pg_policy y where y.polrelid = c.oid',
  'select y.polwithcheck::pg_catalog.text from pg_catalog.pg_policy y where y.polrelid = c.oid',
  `select d.adbin::pg_catalog.text from pg_catalog.pg_attrdef d join pg_catalog.pg_attribute a
      on a.attrelid = d.adrelid and a.attnum = d.adnum where d.adrelid = c.oid and a.attgenerated = ''`,
  `select k.conbin::pg_catalog.text from pg_catalog.pg_constraint k where k.conrelid = c.oid and k.contype = 'c'`,
].join('\n    union all ')

/** Domains, and composite types that may contain some, have checks. */
const hasChecks = `exists (select from pg_catalog.pg_attribute a join pg_catalog.pg_type t on t.oid = a.atttypid
      left join pg_catalog.pg_type e on e.oid = t.typelem
      where a.attrelid = c.oid and a.attnum > '0' and not a.attisdropped
        and (t.typtype in ('c', 'd') or e.typtype in ('c', 'd')))`

/** $1 text[]: schemas. */
const query = `select c.oid::pg_catalog.text as oid
from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
where n.nspname = any ($1::pg_catalog.text[]) and c.relkind = 'r' and not c.relhassubclass
  and not exists (select from pg_catalog.pg_rewrite r where r.ev_class = c.oid)
  and not exists (select from pg_catalog.pg_trigger t where t.tgrelid = c.oid and not t.tgisinternal)
  and not ${hasChecks}
  and not exists (select from (${trees}) kept(tree) where ${reads('tree', 'p', readsNothing('p', readsInBody))})
order by c.oid`

/** The OIDs of such tables. @throws TypeError if the answer has another shape */
export async function readSelfContained(
  ask: (text: string, values: unknown[]) => Promise<{ readonly rows: readonly Readonly<Record<string, unknown>>[] }>,
  schemas: readonly string[],
): Promise<readonly Oid[]> {
  const { rows } = await ask(query, [schemas])
  return rows.map(({ oid }) => text(oid))
}

/** Whether it matters: some comment may enable related rows in inserts. */
export const asksForNesting = ({ schemas, relations }: Pick<Catalog, 'schemas' | 'relations'>): boolean =>
  [...schemas, ...relations].some(({ comment }) => comment?.includes('nestedWrites') === true)
