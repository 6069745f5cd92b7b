import type { RunExchange } from '../../contract/execution.ts'
import { messageOf } from '../../lib/message-of.ts'
import type { Log } from '../../log/events.ts'
import { DatabaseFailure, type DatabaseFailureKind } from './failures.ts'

/** While a database is away every request meets it; one line in this time is enough. */
const quietMs = 1_000

const outages: ReadonlySet<DatabaseFailureKind> = new Set(['unavailable', 'connections'])

/** Tells the operator why the database could not be had; the callers learn only that it could not. */
export function logOutages(run: RunExchange, log: Log, now: () => number): RunExchange {
  let toldAt = Number.NEGATIVE_INFINITY
  return async (exchange, context) => {
    try {
      return await run(exchange, context)
    } catch (error) {
      if (error instanceof DatabaseFailure && outages.has(error.kind) && now() - toldAt >= quietMs) {
        toldAt = now()
        log({ kind: 'database-away', reason: messageOf(error.cause ?? error) })
      }
      throw error
    }
  }
}
