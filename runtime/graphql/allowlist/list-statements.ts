import type { BoundStatement, ExchangeCondition } from '../../contract/execution.ts'
import { sha256Hex } from '../../lib/text.ts'
import { qualified } from '../../sql/ident.ts'
import { named } from '../statements/parameters.ts'
import type { ListTable } from './admission.ts'

/**
 * Statements about a list, run as the caller's role: it needs SELECT on the table, and policies of the table decide
 * what is listed for whom. Parameters take the types of the columns, so that an index on `hash` is used.
 */
const bound = (role: string, text: string, values: BoundStatement['values']): BoundStatement => ({
  ...named(role, text),
  values,
})

/** The message, with SQLSTATE CG002, that marks the refusal of a document that is not listed. */
export const notListedReason = 'PersistedQueryNotFound'

const listedSql =
  (table: string) =>
  (first: number): string =>
    `case when exists (select from ${table} l where l.hash = $${first} and l.document = $${first + 1})
  then true else catalograph.refuse('${notListedReason}') end`

interface TableSql {
  readonly mark: string
  readonly sql: ExchangeCondition['sql']
}

/** Requests by hash use a few texts: they are made once per table. */
const known = new WeakMap<ListTable, TableSql>()

function sqlOf(table: ListTable): TableSql {
  const found = known.get(table)
  if (found !== undefined) return found
  const name = qualified(table.schema, table.name)
  const made = { mark: `.${sha256Hex(name).slice(0, 16)}`, sql: listedSql(name) }
  known.set(table, made)
  return made
}

/** Checks that the list contains this document; fails with SQLSTATE CG002 if not. */
export function listing(table: ListTable, hash: string, text: string): ExchangeCondition {
  const { mark, sql } = sqlOf(table)
  // Equal hashes mean equal texts; the name suffix identifies the list.
  return { nameSuffix: mark, sql, values: [hash, text] }
}

/** The same check as a separate statement, without a version to check. If it fails, the request runs nothing more. */
export function guard(role: string, table: ListTable, hash: string, text: string): BoundStatement {
  return bound(role, `select where ${sqlOf(table).sql(1)}`, [hash, text])
}

/** One column: the document with a hash. */
export const lookUp = (role: string, { schema, name }: ListTable, hash: string): BoundStatement =>
  bound(role, `select l.document::text from ${qualified(schema, name)} l where l.hash = $1 limit 1`, [hash])

/** The maximum number of documents that are prepared ahead. */
const maxPrepared = 5_000

/** One column: a JSON list of the hashes that a role sees. */
export const hashes = (role: string, { schema, name }: ListTable): BoundStatement =>
  bound(
    role,
    `select coalesce(json_agg(l.hash), '[]') from (select hash from ${qualified(schema, name)} limit ${maxPrepared}) l`,
    [],
  )

/** One column: a JSON list of the documents under these hashes. */
export const documents = (role: string, { schema, name }: ListTable, wanted: readonly string[]): BoundStatement =>
  bound(
    role,
    `select coalesce(json_agg(l.document), '[]') from ${qualified(schema, name)} l
where l.hash in (select json_array_elements_text($1::json))`,
    [JSON.stringify(wanted)],
  )
