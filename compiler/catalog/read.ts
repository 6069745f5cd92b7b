import { text, bool, eachOf, nullable, oneWordOf, type AnswerPart, ROWS } from './catalog-rows.ts'
import type { Catalog, Oid, CatalogDistributed, CatalogPolicy } from './catalog.ts'
import { briefQuery, PATH, recordedQuery, wholeQuery } from './queries.ts'
import { createMemo } from '../../runtime/lib/memo/memo.ts'
import { inTurns } from '../../runtime/lib/steps.ts'
import { decodeAnswer } from './decode.ts'
import { join, type JoinOutcome } from './join.ts'
import { nothingKnown, recordedValues, wholeValues, type KnownObjects } from './known.ts'

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

/** Whether an expression as Postgres stores it may read rows (compiler/emit/live/mentions.ts reads such trees). */
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
async function readSelfContained(
  ask: (text: string, values: unknown[]) => Promise<{ readonly rows: readonly Readonly<Record<string, unknown>>[] }>,
  schemas: readonly string[],
): Promise<readonly Oid[]> {
  const { rows } = await ask(query, [schemas])
  return rows.map(({ oid }) => text(oid))
}

/** Whether it matters: some comment may enable related rows in inserts. */
const asksForNesting = ({ schemas, relations }: Pick<Catalog, 'schemas' | 'relations'>): boolean =>
  [...schemas, ...relations].some(({ comment }) => comment?.includes('nestedWrites') === true)

/** The catalogue of Citus, read by a separate statement: without the extension it cannot be mentioned. */

const policies = `array(
    select pg_catalog.json_build_object('name', y.polname, 'command', y.polcmd, 'permissive', y.polpermissive,
      'everybody', '0'::pg_catalog.oid = any (y.polroles),
      'using', case path.value when '' then pg_catalog.pg_get_expr(y.polqual, y.polrelid) end,
      'check', case path.value when '' then pg_catalog.pg_get_expr(y.polwithcheck, y.polrelid) end)::pg_catalog.text
    from pg_catalog.pg_policy y where y.polrelid = c.oid order by y.polname)`

/** Of all schemas: functions may read other schemas. */
const distributedQuery = `with ${PATH}
select c.oid::pg_catalog.text as oid, pg_catalog.column_to_column_name(p.logicalrelid, p.partkey) as column,
  p.partmethod = 'n' and p.repmodel = 't' as everywhere, p.colocationid::pg_catalog.text as "group",
  c.relforcerowsecurity as forced, ${policies} as policies
from pg_catalog.pg_dist_partition p
join pg_catalog.pg_class c on c.oid = p.logicalrelid::pg_catalog.oid
cross join path order by c.oid`

/** @throws TypeError if a row has another shape */
const decodeDistributed = (row: Readonly<Record<string, unknown>>): CatalogDistributed => ({
  oid: text(row['oid']),
  column: nullable(text)(row['column']),
  everywhere: bool(row['everywhere']),
  group: text(row['group']),
  forced: bool(row['forced']),
  policies: eachOf(text)(row['policies']).map((policy) => decodePolicy(JSON.parse(policy))),
})

const decodePolicy = (policy: Readonly<Record<string, unknown>>): CatalogPolicy => ({
  name: text(policy['name']),
  command: oneWordOf('r', 'a', 'w', 'd', '*')(policy['command']),
  permissive: bool(policy['permissive']),
  everybody: bool(policy['everybody']),
  using: nullable(text)(policy['using']),
  check: nullable(text)(policy['check']),
})

/**
 * Runs one statement as a role that may read pg_catalog, on any connection of a pool. A named one is repeated, so that
 * a connection may keep it prepared under that name.
 */
export type CatalogQuery = (
  text: string,
  values: unknown[],
  name?: string,
) => Promise<{ readonly rows: readonly Readonly<Record<string, unknown>>[] }>

export interface ReadOptions {
  /** Schemas to serve, in order of precedence; missing ones are left out. */
  readonly schemas: readonly string[]
  /** SQL expression for the schema version (never a user's text), or null without a counter. */
  readonly version: string | null
  /** SQL expression that counts the changes in catalograph.schema_record; absent: reads compare all hashes. */
  readonly counter?: string
}

/** Reads a database once: see createCatalogReader. */
export const readCatalog = (query: CatalogQuery, options: ReadOptions): Promise<Catalog> =>
  createCatalogReader(query, options)()

/**
 * Creates a reader of one database: the first call reads everything, each further one the changes. Every result is the
 * complete state of the database, and unchanged objects are identical to the previous ones.
 *
 * Everything belongs to one statement and so to one snapshot, version included. Names and defaults are printed by
 * functions of Postgres that use the newest state instead, and fail if an object was dropped in the meantime. Then the
 * statement is run again: the change has been committed by then, so the next snapshot has it. Inside an open
 * transaction it leaves the search path empty.
 * @throws the errors of `query`; TypeError if the answer cannot be read. The known state is kept.
 */
export function createCatalogReader(
  query: CatalogQuery,
  { schemas, version, counter }: ReadOptions,
): () => Promise<Catalog> {
  const question = createQuestion(version, counter ?? null)
  const memo = createMemo()
  let known = nothingKnown
  const ask = async (): Promise<JoinOutcome> => {
    const asked = question(known)
    const { rows } = await query(asked.text, [schemas, ...asked.values], asked.name)
    const answer = await inTurns(decodeAnswer(answerParts(rows)))
    const joined = await inTurns(join(memo, asked.known, answer))
    if (joined.kind !== 'whole') return joined
    const placed = answer.distributes ? await withDistributed(query, joined.catalog) : joined.catalog
    return { ...joined, catalog: asksForNesting(placed) ? await withSelfContained(query, schemas, placed) : placed }
  }
  return async () => {
    for (let attempt = 1; ; attempt += 1) {
      const joined = await attempted(ask, attempt >= ATTEMPTS)
      if (joined === null) continue
      known = joined.known
      if (joined.kind === 'whole') return joined.catalog
    }
  }
}

/** Its snapshot is later: additional changes have a later version, for which the database is read again. */
async function withDistributed(query: CatalogQuery, catalog: Catalog): Promise<Catalog> {
  const { rows } = await query(distributedQuery, [])
  return rows.length === 0 ? catalog : { ...catalog, distributed: rows.map(decodeDistributed) }
}

/** Likewise. */
async function withSelfContained(query: CatalogQuery, schemas: readonly string[], catalog: Catalog): Promise<Catalog> {
  const selfContained = await readSelfContained(query, schemas)
  return selfContained.length === 0 ? catalog : { ...catalog, selfContained }
}

interface Question {
  readonly text: string
  /** For statements after each change: planning takes longer than running them. */
  readonly name?: string
  /** From $2 on. */
  readonly values: unknown[]
  /** The known state, to which its answer is joined. */
  readonly known: KnownObjects
}

/** Names of the statements of recorded changes. */
const [recordedName, briefName] = ['catalograph.recorded', 'catalograph.brief']

/** Selects the statement: if changes are recorded, nothing is compared while the record is complete. */
function createQuestion(version: string | null, counter: string | null): (known: KnownObjects) => Question {
  const whole = wholeQuery(version, counter, 'made')
  const record =
    counter === null
      ? null
      : {
          first: wholeQuery(version, counter, 'left out'),
          text: recordedQuery(version, counter),
          brief: briefQuery(version, counter),
        }
  return (known) => {
    const { since, rest } = known
    if (record !== null && since !== null && rest !== null)
      return { text: record.brief, name: briefName, values: recordedValues(known, since), known }
    if (record !== null && since !== null)
      return { text: record.text, name: recordedName, values: recordedValues(known, since), known }
    if (record !== null && known === nothingKnown) return { text: record.first, values: wholeValues(known), known }
    return {
      text: whole,
      values: wholeValues(known),
      known: since === null ? known : { ...known, since: null, rest: null },
    }
  }
}

const ATTEMPTS = 20

/** Null if a change overtook the answer and another attempt is left. */
async function attempted(ask: () => Promise<JoinOutcome>, last: boolean): Promise<JoinOutcome | null> {
  try {
    return await ask()
  } catch (error) {
    if (last || !isOvertaken(error)) throw error
    return null
  }
}

/**
 * `cache lookup failed for type 16423` is an internal_error (PostgreSQL manual, appendix A). For a type without a name
 * (format_type prints `???`) the decoder throws a TypeError.
 */
const isOvertaken = (error: unknown): boolean =>
  error instanceof TypeError || (error instanceof Error && sqlstateOf(error) === 'XX000')

const sqlstateOf = (error: Error): unknown =>
  'sqlstate' in error ? error.sqlstate : 'code' in error ? error.code : null

const answerParts = (rows: readonly Readonly<Record<string, unknown>>[]): readonly AnswerPart[] =>
  rows.map(({ part, content }) => {
    if (typeof part !== 'string' || typeof content !== 'string')
      throw new TypeError('the catalogue query answered no text')
    if (part !== 'facts' && !Object.hasOwn(ROWS, part)) throw new TypeError(`the catalogue query answered ${part}`)
    return { part: part as AnswerPart['part'], content }
  })
