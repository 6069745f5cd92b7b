import { sendStatements, type Connection, type ExchangeResult, type Grow, type Settle } from '../wire/exchange.ts'
import { writeRun, type SentStatement, type WrittenStatement } from '../wire/wire.ts'

/** Transaction blocks, and the state of a session beyond its transactions. */

/**
 * Removes what a session keeps beyond its transactions: temporary tables (manual, DISCARD) and advisory locks (manual
 * 9.28.10). It runs after the transaction, so that a lock holds until the commit.
 */
export const sessionCleanup: readonly WrittenStatement[] = [
  writeRun({ name: 'catalograph.discard', text: 'discard temp', values: [] }),
  writeRun({ name: 'catalograph.unlock', text: 'select pg_catalog.pg_advisory_unlock_all()', values: [] }),
]

/** Calls `settle` with whether to destroy the connection. Behind a pooler the exchange has cleaned up. */
export const cleanUpSession = (connection: Connection, settle: (destroy: boolean) => void): void =>
  connection.pooled === null
    ? sendStatements(connection, sessionCleanup, ({ kind }) => settle(kind === 'failed'))
    : settle(false)

export const begin = writeRun({ name: 'catalograph.begin', text: 'begin', values: [] })
export const commit = writeRun({ name: 'catalograph.commit', text: 'commit', values: [] })
export const rollback = writeRun({ name: 'catalograph.rollback', text: 'rollback', values: [] })

/** Statements that are sent with those of a block. */
interface Block {
  readonly uncounted: readonly SentStatement[]
  /** Statements after the transaction (`sessionCleanup`). */
  readonly cleanup: readonly SentStatement[]
}

/**
 * In an explicit transaction. Behind a pooler the backend belongs to the next client as soon as it is ready, so the same
 * exchange cleans it up after the commit; a transaction that failed and was not rolled back keeps its backend.
 */
export const sendInBlock = (
  connection: Connection,
  statements: readonly SentStatement[],
  { uncounted, cleanup }: Block,
  settle: Settle,
  grow: Grow | null,
): void => {
  const sent = [begin, ...statements, commit, ...cleanup]
  const others = new Set([begin, commit, ...cleanup, ...uncounted])
  const settleOwn: Settle = (result) => {
    const own = resultOf(result, (place) => !others.has(sent[place] ?? commit))
    if (result.kind === 'rows' || result.broken) settle(own)
    else sendStatements(connection, [rollback, ...cleanup], () => settle(own))
  }
  sendStatements(connection, sent, settleOwn, grow)
}

/** The result as if only the statements at these places had been sent. */
const resultOf = (result: ExchangeResult, isOwn: (place: number) => boolean): ExchangeResult => {
  if (result.kind === 'rows') return { ...result, rows: result.rows.filter((_, place) => isOwn(place)) }
  const ownOf = (count: number): number =>
    Array.from({ length: count }, (_, place) => isOwn(place)).filter(Boolean).length
  return { ...result, begun: ownOf(result.begun), completed: ownOf(result.completed) }
}
