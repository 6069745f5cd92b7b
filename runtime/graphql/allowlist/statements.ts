import type { BoundStatement, PreparedText } from '../../contract/execution.ts'
import { createLru, type Lru } from '../../lib/lru.ts'
import { qualified } from '../../sql/ident.ts'
import { named } from '../statements/statements.ts'
import type { ListTable } from './admission.ts'

/**
 * Statements about a list, run as the caller's role: it needs SELECT on the table, and policies of the table decide
 * what is listed for whom. Parameters take the types of the columns, so that an index on `hash` serves.
 */
const bound = (role: string, text: string, values: BoundStatement['values']): BoundStatement => ({
  ...named(role, text),
  values,
})

/** Every request by hash asks with one of a few texts: they are named once for each table, by role. */
const guards = new WeakMap<ListTable, Lru<string, PreparedText>>()
const maxRoles = 100

function preparedGuard(role: string, table: ListTable): PreparedText {
  const ofTable = guards.get(table) ?? createLru(maxRoles)
  const known = ofTable.get(role)
  if (known !== undefined) return known
  const prepared = named(role, guardText(qualified(table.schema, table.name)))
  ofTable.set(role, prepared)
  guards.set(table, ofTable)
  return prepared
}

/** Fails with SQLSTATE CG002 unless the list holds this very document; what follows it in a request then never runs. */
export function guard(role: string, table: ListTable, hash: string, text: string): BoundStatement {
  const prepared = preparedGuard(role, table)
  return { name: prepared.name, text: prepared.text, values: [hash, text] }
}

const guardText = (table: string): string =>
  `select from (select exists (select from ${table} l where l.hash = $1 and l.document = $2) as listed offset 0) x
where case when x.listed then true else catalograph.refuse('PersistedQueryNotFound') end`

/** One column: the document that stands under a hash. */
export const lookUp = (role: string, { schema, name }: ListTable, hash: string): BoundStatement =>
  bound(role, `select l.document::text from ${qualified(schema, name)} l where l.hash = $1 limit 1`, [hash])

/** More are not prepared ahead of being asked for. */
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
