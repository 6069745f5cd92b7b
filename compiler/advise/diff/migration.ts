import { DatabaseFailure, isAway } from '../../../runtime/db/failures/failures.ts'
import type { SessionCommand, Query } from '../../../runtime/db/connect/session.ts'
import { MigrationFailure, type ScriptPlace, type ScriptStatement } from './script.ts'
import type { SqlStatement } from './split-sql.ts'

/** An omitted statement, which Postgres cannot run in a transaction. */
export interface LeftOut extends ScriptPlace {
  readonly message: string
}

/** A lock on a relation that existed before, for which other transactions wait. */
export interface HeldLock {
  /** In the terms of the manual, chapter Explicit Locking: ACCESS EXCLUSIVE, SHARE, ... */
  readonly mode: string
  readonly relation: string
}

/** The results of applying a migration. */
export interface Applied {
  readonly leftOut: readonly LeftOut[]
  readonly locks: readonly HeldLock[]
}

/** The lock timeout in milliseconds: later transactions wait behind a waiting one. */
const lockTimeoutMs = 3_000

/**
 * Runs `work` in the transaction of the applied migration, and rolls everything back. Rejects with MigrationFailure,
 * with DatabaseFailure, or with the error of `work`; nothing is kept then either.
 */
export async function afterMigration<T>(
  { query, command }: { readonly query: Query; readonly command: SessionCommand },
  script: readonly ScriptStatement[],
  work: (applied: Applied) => Promise<T>,
): Promise<T> {
  const statements = withoutFrame(script)
  await query('begin')
  try {
    const known = await knownRelations(query)
    const leftOut = await applyAll(query, command, statements)
    // A migration may have changed the role and settings, and its own objects must not shadow the catalogue.
    await query('reset session authorization')
    await query('set local role none')
    await query('reset all')
    await query('set local search_path = pg_catalog, pg_temp')
    return await work({ leftOut, locks: await heldLocks(query, known) })
  } finally {
    await query('rollback').catch(() => undefined)
  }
}

const knownRelations = async (query: Query): Promise<readonly string[]> =>
  (await query<{ oid: string }>('select oid::text from pg_catalog.pg_class')).rows.map(({ oid }) => oid)

/** Locks that block others from reading or writing rows: from SHARE UPDATE EXCLUSIVE up. */
const heldSql = `select l.relation::pg_catalog.regclass::text as relation,
    pg_catalog.btrim(pg_catalog.upper(pg_catalog.regexp_replace(pg_catalog.regexp_replace(l.mode, 'Lock$', ''), '([A-Z])', ' \\1', 'g'))) as mode
  from pg_catalog.pg_locks l join pg_catalog.pg_class c on c.oid = l.relation
  where l.pid = pg_catalog.pg_backend_pid() and l.granted and c.relkind in ('r', 'p', 'm', 'v', 'f')
    and c.oid = any ($1::oid[]) and c.oid >= 16384
    and l.mode in ('ShareUpdateExclusiveLock', 'ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
  order by 1, 2`

const heldLocks = async (query: Query, known: readonly string[]): Promise<readonly HeldLock[]> =>
  (await query<HeldLock>(heldSql, [known])).rows

const begins = /^(?:BEGIN|START TRANSACTION|COMMIT(?! PREPARED)|END)\b/
const leaves = /^(?:ABORT|PREPARE TRANSACTION|COMMIT PREPARED|ROLLBACK(?! (?:(?:WORK|TRANSACTION) )?TO\b))\b/
const savepointCommands = /^(?:SAVEPOINT|RELEASE|ROLLBACK)\b/
const copiesIn = /^COPY\b.* FROM STDIN\b/

const starts = ({ head }: SqlStatement, words: RegExp): boolean => words.test(head.join(' '))

/** Files often contain `begin` and `commit`: everything is one transaction here. */
function withoutFrame(statements: readonly ScriptStatement[]): readonly ScriptStatement[] {
  for (const statement of statements) {
    const problem = whyNoMigration(statement)
    if (problem !== null) throw new MigrationFailure(statement, problem)
  }
  return statements.filter((statement) => !starts(statement, begins))
}

/** Why a statement cannot be tried, or null; Postgres reports all other faults. */
function whyNoMigration(statement: SqlStatement): string | null {
  const words = statement.head.join(' ')
  if (starts(statement, leaves)) return `${words} would end the transaction in which the migration is tried`
  return starts(statement, copiesIn) ? `${words} takes rows from psql, and a file has none to give: use INSERT` : null
}

/**
 * Errors that only occur within a transaction: active_sql_transaction and, for a label that it added to an enum,
 * unsafe_new_enum_value_usage (PostgreSQL manual, appendix A).
 */
const onlyOutside: ReadonlySet<string | null> = new Set(['25001', '55P04'])

async function applyAll(
  query: Query,
  command: SessionCommand,
  statements: readonly ScriptStatement[],
): Promise<readonly LeftOut[]> {
  const leftOut: LeftOut[] = []
  for (const statement of statements) {
    const { file, line, text } = statement
    try {
      // Its own savepoints must outlive ours.
      await (starts(statement, savepointCommands) ? command(text) : inSavepoint(query, () => command(text)))
    } catch (error) {
      if (!(error instanceof DatabaseFailure) || isAway(error)) throw error
      if (!onlyOutside.has(error.sqlstate)) throw new MigrationFailure(statement, error.message)
      leftOut.push({ file, line, message: error.message })
    }
  }
  return leftOut
}

/** A failure rolls back to the savepoint. Files may set the lock timeout as well: dumps disable it. */
async function inSavepoint(query: Query, work: () => Promise<void>): Promise<void> {
  await query(`set local lock_timeout = ${lockTimeoutMs}`)
  await query('savepoint catalograph_statement')
  try {
    await work()
  } catch (error) {
    await query('rollback to savepoint catalograph_statement')
    throw error
  }
  await query('release savepoint catalograph_statement')
}
