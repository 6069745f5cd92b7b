import { DatabaseFailure } from '../../db/failures/failures.ts'
import { statement, type RunStatement } from '../../db/pool/statements.ts'

/** Tables of catalograph_auth that are queried periodically, whether or not auth was ever enabled. */
type PolledTable = 'bans' | 'mail_requests' | 'refresh_marks' | 'settings_version'

/**
 * Runs work on a table, or returns null if the login role has no such usable table: auth is not enabled. Until the
 * table is found the catalogue is queried: a failing statement would be an error in the database's log, and one every
 * few seconds hides the others.
 */
export type WhereReady = <T>(table: PolledTable, work: () => Promise<T>) => Promise<T | null>

/** No other role's schema or table is looked up by name here, which would be an error without privileges. */
const usable = statement<{ readonly name: PolledTable }>(
  'auth.where-ready.usable',
  `select c.relname as name from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  where n.nspname = 'catalograph_auth' and c.relkind = 'r' and pg_catalog.has_schema_privilege(n.oid, 'usage')
    and pg_catalog.has_table_privilege(c.oid, 'select') and pg_catalog.has_table_privilege(c.oid, 'update')`,
)

/** Schema, table or privilege missing. */
const missing: ReadonlySet<string> = new Set(['3F000', '42P01', '42501'])

export function createWhereReady(run: RunStatement): WhereReady {
  let known: ReadonlySet<string> = new Set()
  return async (table, work) => {
    if (!known.has(table)) known = new Set((await run(usable)).map(({ name }) => name))
    if (!known.has(table)) return null
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof DatabaseFailure) || !missing.has(error.sqlstate ?? '')) throw error
      // It was removed in the meantime.
      known = new Set()
      return null
    }
  }
}
