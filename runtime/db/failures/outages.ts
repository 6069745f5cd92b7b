import type { Log } from '../../log/events.ts'
import { reasonOf } from './reason.ts'
import { DatabaseFailure, type DatabaseFailureKind } from './failures.ts'

/** Every request of an outage fails alike; one log line in this time is enough. */
const quietMs = 1_000

const outages: ReadonlySet<DatabaseFailureKind> = new Set(['unavailable', 'connections'])

/** Receives what requests fail of, and logs the cause of an outage for the operator; callers get only the general sentence. */
export function createOutageLog(log: Log, now: () => number): (error: unknown) => void {
  let loggedAt = Number.NEGATIVE_INFINITY
  return (error) => {
    if (!(error instanceof DatabaseFailure && outages.has(error.kind)) || now() - loggedAt < quietMs) return
    loggedAt = now()
    log({ kind: 'database-away', reason: reasonOf(error) })
  }
}
