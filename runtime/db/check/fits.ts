import type { Query } from '../connect/session.ts'
import { versionExpression } from './version.ts'

/** Whether a database has what statements name that were written for it before. */

/** A relation; with a column and its SQL type where one is named. */
type Column = readonly [schema: string, relation: string, column: string | null, type: string | null]
type Called = readonly [schema: string, name: string]

export interface Sight {
  /** The schema version that this was seen at; null: nothing counts it, so that requests cannot check it. */
  readonly version: string | null
  /** The places, among those that were asked for, of what is not there or is of another type. */
  readonly columns: ReadonlySet<number>
  readonly functions: ReadonlySet<number>
}

/** Event triggers count changes of the schema (compiler/prepare). */
const followed = `(select count(*) = 2 from pg_catalog.pg_event_trigger
  where evtname in ('catalograph_ddl_command_end', 'catalograph_sql_drop') and evtenabled <> 'D')`

const missingColumns = `(select pg_catalog.array_agg(n.at - 1) from pg_catalog.json_array_elements($1::json) with ordinality n (item, at)
  where not exists (select from pg_catalog.pg_class c join pg_catalog.pg_namespace s on s.oid = c.relnamespace
    where s.nspname = n.item ->> 0 and c.relname = n.item ->> 1 and (n.item ->> 2 is null or exists (
      select from pg_catalog.pg_attribute a where a.attrelid = c.oid and a.attname = n.item ->> 2 and a.attnum > 0
        and not a.attisdropped and (n.item ->> 3 is null or a.atttypid = pg_catalog.to_regtype(n.item ->> 3))))))`

const missingFunctions = `(select pg_catalog.array_agg(n.at - 1) from pg_catalog.json_array_elements($2::json) with ordinality n (item, at)
  where not exists (select from pg_catalog.pg_proc p join pg_catalog.pg_namespace s on s.oid = p.pronamespace
    where s.nspname = n.item ->> 0 and p.proname = n.item ->> 1))`

const stamp = `${versionExpression} as version, ${followed} as followed`

/** The schema version as `Sight` has it, without a look at anything else. Rejects as `lookFor` does. */
export async function versionOf(query: Query): Promise<string | null> {
  const { rows } = await query<Pick<Row, 'version' | 'followed'>>(`select ${stamp}`)
  return rows[0]?.followed === true ? rows[0].version : null
}

/** One statement, so that all of it is of one version. */
const text = `select ${stamp},
  ${missingColumns} as columns, ${missingFunctions} as functions`

interface Row {
  readonly version: string
  readonly followed: boolean
  readonly columns: readonly (string | number)[] | null
  readonly functions: readonly (string | number)[] | null
}

/** Rejects with DatabaseFailure, of class 3F or 42 where the database is not prepared. */
export async function lookFor(query: Query, columns: readonly Column[], functions: readonly Called[]): Promise<Sight> {
  const { rows } = await query<Row>(text, [JSON.stringify(columns), JSON.stringify(functions)])
  const [row] = rows
  if (row === undefined) throw new Error('a select without FROM answers one row')
  return {
    version: row.followed ? row.version : null,
    columns: new Set(row.columns?.map(Number)),
    functions: new Set(row.functions?.map(Number)),
  }
}
