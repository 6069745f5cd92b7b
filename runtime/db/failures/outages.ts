import type { RunExchange } from '../../contract/execution.ts'
import type { Log } from '../../log/events.ts'
import { reasonOf } from './reason.ts'
import { DatabaseFailure, type DatabaseFailureKind } from './failures.ts'

/** Every request of an outage fails alike; one log line in this time is enough. */
const quietMs = 1_000

const outages: ReadonlySet<DatabaseFailureKind> = new Set(['unavailable', 'connections'])

/** Logs the cause of an outage for the operator; callers get only the general sentence. */
export function logOutages(run: RunExchange, log: Log, now: () => number): RunExchange {
  let loggedAt = Number.NEGATIVE_INFINITY
  return async (exchange, context) => {
    try {
      return await run(exchange, context)
    } catch (error) {
      if (error instanceof DatabaseFailure && outages.has(error.kind) && now() - loggedAt >= quietMs) {
        loggedAt = now()
        log({ kind: 'database-away', reason: reasonOf(error) })
      }
      throw error
    }
  }
}
