import type { Caller, RunExchange } from '../../runtime/contract/execution.ts'
import { sha256Hex } from '../../runtime/lib/text.ts'
import { ident, qualified } from '../../runtime/sql/ident.ts'
import type { KnownColumn } from './column-types.ts'
import type { Value } from './interpreter/world.ts'

/** Runs one reading statement as the caller's role; the text of its one column. Rejects with DatabaseFailure. */
export type Ask = (statement: {
  readonly text: string
  readonly values: readonly (string | null)[]
}) => Promise<string | null>

export const askAs =
  (run: RunExchange, caller: Caller): Ask =>
  async ({ text, values }) => {
    const name = `catalograph.verify.${sha256Hex(caller.role + text).slice(0, 16)}`
    const rows = await run({ caller, version: null, readOnly: true, statements: [{ name, text, values }] })
    return rows[0]?.[0]?.toString() ?? null
  }

export type Cells = readonly (readonly Value[])[]

/** Values of a key of one column, as text. */
export interface Keys {
  readonly column: string
  readonly sql: string
  readonly texts: readonly string[]
}

export interface Reading {
  readonly schema: string
  readonly relation: string
  readonly key: readonly string[]
  readonly columns: readonly KnownColumn[]
  readonly most: number
  /** Of the rows under these keys; null: of all. */
  readonly under: Keys | null
}

/** The first rows by the key that the role sees. Rejects with DatabaseFailure. */
export async function readRows(ask: Ask, { schema, relation, key, columns, most, under }: Reading): Promise<Cells> {
  // Functions take a hundred arguments (PostgreSQL manual, appendix K), arrays any number of elements.
  const row = `to_jsonb(array[${columns.map(({ cell }) => `to_jsonb(${cell})`).join(', ')}]::jsonb[])`
  const some =
    under === null
      ? ''
      : `where ${ident(under.column)} in (select k::${under.sql} from json_array_elements_text($1::json) k)`
  const text = `select coalesce(json_agg(r), '[]')::text from (
  select ${row} as r from ${qualified(schema, relation)} ${some} order by ${key.map(ident).join(', ')} limit ${most}) x`
  return JSON.parse((await ask({ text, values: under === null ? [] : [JSON.stringify(under.texts)] })) ?? '[]') as Cells
}

/** Texts in the order of a collation. */
export async function sortedTexts(ask: Ask, collation: string, texts: readonly string[]): Promise<readonly string[]> {
  const text = `select coalesce(json_agg(v order by v collate ${collation}), '[]')::text
from (select distinct v collate "C" as v from json_array_elements_text($1::json) v) x`
  return JSON.parse((await ask({ text, values: [JSON.stringify(texts)] })) ?? '[]') as readonly string[]
}
