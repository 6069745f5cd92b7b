import type { Log } from '../../settings/log/events.ts'
import { reasonOf } from './reason.ts'
import { DatabaseFailure, type DatabaseFailureKind } from './failures.ts'

/** All requests of an outage fail in the same way; one log line per interval is enough. */
const quietMs = 1_000

const outages: ReadonlySet<DatabaseFailureKind> = new Set(['unavailable', 'connections'])

/** Receives failures of requests, and logs the cause of an outage; callers get only the general sentence. */
export function createOutageLog(log: Log, now: () => number): (error: unknown) => void {
  let loggedAt = Number.NEGATIVE_INFINITY
  return (error) => {
    if (!(error instanceof DatabaseFailure && outages.has(error.kind)) || now() - loggedAt < quietMs) return
    loggedAt = now()
    log({ kind: 'database-away', reason: reasonOf(error) })
  }
}
