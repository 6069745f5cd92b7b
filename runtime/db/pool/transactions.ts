import type { PreparedText } from '../../contract/execution.ts'
import { begin, commit, rollback } from '../check/block.ts'
import type { SentStatement } from '../wire/wire.ts'

/** Transactions of our own statements whose work decides as it goes; see statements.ts. */

/** A statement that waits for its round trip. */
export interface Queued {
  readonly statement: PreparedText
  readonly values: readonly unknown[] | undefined
  readonly resolve: (rows: readonly object[]) => void
  readonly reject: (error: unknown) => void
}

/** Sends what is queued in one round trip, after others of which no rows are wanted. Never rejects. */
export type SendQueued = (queue: readonly Queued[], before: readonly SentStatement[]) => Promise<void>

interface TransactionConnection {
  readonly acquired: {
    /** Statements before those of a transaction, in its first round trip. */
    readonly opening: readonly SentStatement[]
    readonly failed: boolean
    mustDestroy: boolean
  }
  readonly send: SendQueued
  /** Begins or ends something; rejects with what the database says. */
  readonly control: (statement: SentStatement) => Promise<unknown>
}

type RunAny = (statement: PreparedText, values?: readonly unknown[]) => Promise<readonly object[]>

interface Pipeline {
  readonly run: RunAny
  /** Waits for what is under way; nothing is sent from now on. Whether anything ever was. */
  readonly end: () => Promise<boolean>
}

/** Sends what is asked for in one go together, the begin of the transaction with the first of it. */
function createPipeline({ acquired, send }: TransactionConnection): Pipeline {
  let queue: Queued[] = []
  let [begun, ended] = [false, false]
  let last: Promise<void> = Promise.resolve()
  const flush = async (): Promise<void> => {
    const sent = queue
    queue = []
    if (ended) return sent.forEach(({ reject }) => reject(new Error('The transaction has ended.')))
    const before = begun ? [] : [begin, ...acquired.opening]
    begun = true
    await send(sent, before)
  }
  const run: RunAny = (statement, values) =>
    new Promise((resolve, reject) => {
      // One connection runs one exchange at a time: statements that come during it go with the next.
      if (queue.length === 0) last = last.then(flush)
      queue.push({ statement, values, resolve, reject })
    })
  const end = async (): Promise<boolean> => {
    ended = true
    await last
    return begun
  }
  return { run, end }
}

export async function inTransaction<T>(
  transaction: TransactionConnection,
  work: (run: RunAny) => Promise<T>,
): Promise<T> {
  const { acquired, control } = transaction
  const { run, end } = createPipeline(transaction)
  try {
    const value = await work(run)
    if (!(await end())) return value
    // Postgres would answer the commit with a rollback, and no error.
    if (acquired.failed) throw new Error('A failure inside a transaction was swallowed; nothing was kept.')
    await control(commit)
    return value
  } catch (error) {
    if ((await end()) && !acquired.mustDestroy) await control(rollback).catch(() => (acquired.mustDestroy = true))
    throw error
  }
}
