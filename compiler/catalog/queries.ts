/**
 * The statement that reads a database (PostgreSQL manual, chapter "System Catalogs"): one statement, one snapshot. It
 * has two forms (queries/extent.ts), and a brief one.
 *
 * `whole`: the caller sends the known relations and functions, each with its hash; the answer leaves out those with an
 * equal hash. Without known objects the answer has all of them. `recorded`: the caller sends the place in the record of
 * changes up to which it knows everything, and only later recorded changes are read. `brief`: the same of relations alone; the
 * caller knows from the answer whether that is all (join.ts).
 *
 * It returns rows of a name and a text of JSON: the single facts, and flat lists, one per kind of fact (see rows.ts),
 * the long ones in parts, so that they can be parsed in slices. catalog-rows.ts checks and decode.ts joins them. It works on
 * PostgreSQL 14 to 18; a column of some versions only is named without a table inside a lateral sub-select, so that in
 * other versions the name resolves to the constant beside it.
 */

import {
  GONE_LIST,
  KNOWN,
  SERVED,
  TOUCHED,
  TOUCHED_LIST,
  recordSince,
  type Extent,
  type Hashes,
} from './queries/extent.ts'
import {
  FUNCTION_LIST,
  ROUTINES,
  ACLS,
  RELATION_ACLS,
  GRANTS,
  MEMBERSHIPS,
  ROLES,
  SCHEMA_LIST,
} from './queries/functions.ts'
import {
  FOREIGN_KEY_LIST,
  UNIQUE_LIST,
  ATTRIBUTES,
  COLUMN_LIST,
  HASHES,
  LOOSE,
  OWNED,
  PLACES,
  RELATIONS,
  RELATION_LIST,
  SEQUENCES,
  SEQUENCE_LIST,
} from './queries/relations.ts'
import { FILLED_LIST, MEMBER_LIST, NEEDY_LIST, STRAY_LIST } from './queries/marks.ts'
import {
  HOMES,
  MENTIONED,
  ORDERS,
  PATTERNS,
  TYPES,
  TYPE_LIST,
  TYPE_SCHEMA_LIST,
  TYPE_TEXTS,
  typeTexts,
} from './queries/type-columns.ts'
import { ROWS, type ListName } from './catalog-rows.ts'

/**
 * Sets an empty search path for the rest of the transaction. Functions that print names (format_type, pg_get_expr) are
 * behind `case path.value when ''`, so that they cannot run before.
 */
export const PATH = `path as materialized (select pg_catalog.set_config('search_path', '', true) as value)`

/**
 * In the order of evaluation. Functions come first: their defaults are printed from the newest state, not from the
 * snapshot, so an early read is better (see readCatalog).
 */
const lists = (extent: Extent): Readonly<Record<ListName, string>> => ({
  functions: FUNCTION_LIST,
  gone: GONE_LIST[extent],
  touched: TOUCHED_LIST[extent],
  roles: ROLES,
  memberships: MEMBERSHIPS,
  grants: GRANTS,
  schemas: SCHEMA_LIST,
  relations: RELATION_LIST,
  columns: COLUMN_LIST,
  sequences: SEQUENCE_LIST,
  uniques: UNIQUE_LIST,
  foreignKeys: FOREIGN_KEY_LIST,
  typeTexts: TYPE_TEXTS,
  types: TYPE_LIST,
  typeSchemas: TYPE_SCHEMA_LIST,
  filled: FILLED_LIST[extent],
  members: MEMBER_LIST,
  strays: STRAY_LIST,
  needy: NEEDY_LIST[extent],
})

/** Lists with as many rows as the database has relations or more: rows of one slice form one part. */
const sliced: ReadonlySet<ListName> = new Set(['relations', 'columns', 'sequences', 'uniques', 'foreignKeys'])

/**
 * A list as JSON, in parts: one array per field of ROWS, in the order of the query. That order begins with the slice,
 * so a part keeps it under any grouping.
 */
const partsOf = (name: ListName, query: string): string =>
  `select '${name}', pg_catalog.json_build_object(${Object.keys(ROWS[name])
    .map((field) => `'${field}', coalesce(pg_catalog.json_agg(x."${field}"), '[]')`)
    .join(', ')})::pg_catalog.text from (${query}) x${sliced.has(name) ? ' group by x.slice' : ''}`

/** The FROM of the lists. */
const relationParts = (extent: Extent, hashes: Hashes, record: readonly string[]): readonly string[] => [
  PATH,
  SERVED,
  KNOWN[extent],
  ...record,
  OWNED[extent],
  PLACES[extent],
  LOOSE,
  HASHES[hashes],
  RELATIONS,
  ATTRIBUTES,
  SEQUENCES,
]

const allParts = (extent: Extent, hashes: Hashes, record: readonly string[]): readonly string[] => [
  ...relationParts(extent, hashes, record),
  ROUTINES[extent],
  MENTIONED[extent],
  TYPES,
  ORDERS,
  PATTERNS,
  HOMES,
  ACLS,
]

type Facts = Readonly<Record<'version' | 'counter' | 'isComplete', string>>

const statement = (
  parts: readonly string[],
  answered: Readonly<Partial<Record<ListName, string>>>,
  facts: Facts,
): string => `with recursive ${parts.join(',\n')}
select 'facts' as part, pg_catalog.json_build_object(
  'version', (${facts.version})::pg_catalog.text,
  'isComplete', ${facts.isComplete},
  'snapshot', pg_catalog.pg_current_snapshot()::pg_catalog.text,
  'counter', (${facts.counter})::pg_catalog.text,
  'server', pg_catalog.pg_postmaster_start_time()::pg_catalog.text,
  'serverVersion', pg_catalog.current_setting('server_version_num')::pg_catalog.int4,
  'distributes', exists (select from pg_catalog.pg_extension e where e.extname = 'citus'),
  'databaseOwner', (select pg_catalog.pg_get_userbyid(datdba) from pg_catalog.pg_database
    where datname = pg_catalog.current_database())
)::pg_catalog.text as content
${Object.entries(answered)
  .map(([name, query]) => `union all ${partsOf(name as ListName, query)}`)
  .join('\n')}`

/**
 * Reads everything. $1 text[]: schemas to serve; $2 oid[] and $3 int8[]: known relations and their hashes; $4 and $5:
 * functions and theirs; $6 oid[]: types that these mention. `server` identifies a running server. `version` and
 * `counter` are our own SQL expressions, never a user's: they are evaluated in the same snapshot. A relation that was
 * read without a hash is read once more.
 */
export const wholeQuery = (version: string | null, counter: string | null, hashes: Hashes): string =>
  statement(allParts('whole', hashes, []), lists('whole'), {
    version: version ?? 'null',
    counter: counter ?? 'null',
    isComplete: 'true',
  })

const recordParts = (counter: string): readonly string[] => [recordSince(counter, '$5', '$6'), TOUCHED]

const recordFacts = (version: string | null, counter: string): Facts => ({
  version: version ?? 'null',
  counter,
  isComplete: '(select everything from record)',
})

/**
 * Reads the changes recorded since. $1 text[]: schemas to serve; $2 oid[]: known relations that are not served; $3:
 * functions with defaults; $4: known types; $5 and $6 text: the snapshot of the previous answer and its counter; $7
 * oid[]: relations to read again; $8 oid[] and $9 text[]: sample relations of each owner, and their owners. If `isComplete`
 * is false, the record is incomplete, and the answer contains nothing else.
 */
export const recordedQuery = (version: string | null, counter: string): string =>
  statement(allParts('recorded', 'made', recordParts(counter)), lists('recorded'), recordFacts(version, counter))

const { touched, grants, relations, columns, sequences, uniques, foreignKeys, filled, needy } = lists('recorded')

const briefLists = {
  ...{ touched, grants, relations, columns, sequences, uniques, foreignKeys, filled, needy },
  typeTexts: typeTexts('select null, null where false'),
}

/** Reads of the changes recorded since what is about relations, which a later complete read reads once more. Parameters as above. */
export const briefQuery = (version: string | null, counter: string): string =>
  statement(
    [...relationParts('recorded', 'left out', recordParts(counter)), RELATION_ACLS],
    briefLists,
    recordFacts(version, counter),
  )
