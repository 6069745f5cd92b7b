import { DatabaseFailure, isAway } from '../../../runtime/db/failures/failures.ts'
import type { SessionCommand, Query } from '../../../runtime/db/connect/session.ts'
import type { SqlStatement } from './split-sql.ts'
import { splitSql } from './split-sql.ts'

/** A statement that was left out, because Postgres does not run it in the transaction of the others. */
export interface LeftOut {
  readonly line: number
  readonly message: string
}

/** A migration that gives no verdict: it failed, or would not stay within the transaction. */
export class MigrationFailure extends Error {
  readonly line: number

  constructor(line: number, message: string) {
    super(message)
    this.name = 'MigrationFailure'
    this.line = line
  }
}

/** How long a lock is waited for, in milliseconds: later transactions wait behind a waiting one. */
const lockTimeoutMs = 3_000

/**
 * Runs `work` in the transaction in which the migration was applied, and takes everything back. Rejects with
 * MigrationFailure, with DatabaseFailure, or with what `work` rejects with; nothing is kept then either.
 */
export async function afterMigration<T>(
  { query, command }: { readonly query: Query; readonly command: SessionCommand },
  sql: string,
  work: (leftOut: readonly LeftOut[]) => Promise<T>,
): Promise<T> {
  const statements = withoutFrame(splitSql(sql))
  await query('begin')
  try {
    const leftOut = await applyAll(query, command, statements)
    // A migration may have become somebody else and set what it liked, and nothing of its own may stand in for the
    // catalogue.
    await query('reset session authorization')
    await query('set local role none')
    await query('reset all')
    await query('set local search_path = pg_catalog, pg_temp')
    return await work(leftOut)
  } finally {
    await query('rollback').catch(() => undefined)
  }
}

const begins = /^(?:BEGIN|START TRANSACTION|COMMIT(?! PREPARED)|END)\b/
const leaves = /^(?:ABORT|PREPARE TRANSACTION|COMMIT PREPARED|ROLLBACK(?! (?:(?:WORK|TRANSACTION) )?TO\b))\b/
const savepointCommands = /^(?:SAVEPOINT|RELEASE|ROLLBACK)\b/
const copiesIn = /^COPY\b.* FROM STDIN\b/

const starts = ({ head }: SqlStatement, words: RegExp): boolean => words.test(head.join(' '))

/** Files often stand between `begin` and `commit`: all is one transaction here. */
function withoutFrame(statements: readonly SqlStatement[]): readonly SqlStatement[] {
  for (const statement of statements) {
    const problem = whyNoMigration(statement)
    if (problem !== null) throw new MigrationFailure(statement.line, problem)
  }
  return statements.filter((statement) => !starts(statement, begins))
}

/** Why a statement cannot be tried, or null; Postgres reports all other faults. */
function whyNoMigration(statement: SqlStatement): string | null {
  const words = statement.head.join(' ')
  if (starts(statement, leaves)) return `${words} would end the transaction in which the migration is tried`
  if (starts(statement, copiesIn)) return `${words} takes rows from psql, and a file has none to give: use INSERT`
  const [meta] = /^\\\S*/.exec(statement.text) ?? []
  return meta === undefined ? null : `${meta} is a command of psql, which Postgres does not know`
}

/**
 * What another transaction would not refuse: active_sql_transaction and, for a label that this one added to an enum,
 * unsafe_new_enum_value_usage (PostgreSQL manual, appendix A).
 */
const onlyOutside: ReadonlySet<string | null> = new Set(['25001', '55P04'])

async function applyAll(
  query: Query,
  command: SessionCommand,
  statements: readonly SqlStatement[],
): Promise<readonly LeftOut[]> {
  const leftOut: LeftOut[] = []
  for (const statement of statements) {
    const { line, text } = statement
    try {
      // Its own savepoints have to outlive ours.
      await (starts(statement, savepointCommands) ? command(text) : within(query, () => command(text)))
    } catch (error) {
      if (!(error instanceof DatabaseFailure) || isAway(error)) throw error
      if (!onlyOutside.has(error.sqlstate)) throw new MigrationFailure(line, error.message)
      leftOut.push({ line, message: error.message })
    }
  }
  return leftOut
}

/** A failure leaves the transaction as it was. Files set the time for locks as well: dumps to any. */
async function within(query: Query, work: () => Promise<void>): Promise<void> {
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
