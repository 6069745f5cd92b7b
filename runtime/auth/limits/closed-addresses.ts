import { singleFlight } from '../../lib/single-flight.ts'
import { within } from '../../lib/within.ts'
import type { RunStatement } from '../../db/pool/statements.ts'
import { listClosed } from '../store/throttles.ts'
import type { WhereReady } from '../schema/where-ready.ts'

/**
 * The source addresses that are closed for the whole project (spec/auth.md 10), as this process knows them. Every
 * request of every service reads the list, so it is in memory: it is read again, behind the requests, once it is older
 * than `freshMs`. Only a process that had no request for longer than `staleMs` waits for it, and not for long.
 */
export interface ClosedAddresses {
  /** Seconds for which a source is closed yet; 0: it is not. It is asked for while some are closed. A promise only while the list has to be waited for; never rejects. */
  readonly closedFor: (source: () => string) => number | Promise<number>
  /** This process has just closed it. */
  readonly close: (source: string, seconds: number) => void
}

const freshMs = 500
const staleMs = 2_000
/** Longer than a healthy database takes, and little for a request while it is away. */
const patienceMs = 250
/**
 * How long the list is not looked up again where auth was never set up, so that there is none, or where the database is
 * away.
 */
const failedMs = 10_000

export function createClosedAddresses(run: RunStatement, whereReady: WhereReady, now: () => number): ClosedAddresses {
  let held: ReadonlyMap<string, number> = new Map()
  let readAt = Number.NEGATIVE_INFINITY
  let failedAt = Number.NEGATIVE_INFINITY
  const read = singleFlight(async () => {
    const startedAt = now()
    const rows = await whereReady('bans', () => listClosed(run)).catch(() => null)
    if (rows === null) {
      failedAt = startedAt
      return
    }
    held = new Map(rows.map(({ source, seconds }) => [source, startedAt + seconds * 1000]))
    readAt = startedAt
  })
  const secondsLeft = (source: () => string): number => {
    const until = held.size === 0 ? undefined : held.get(source())
    return until === undefined ? 0 : Math.max(0, Math.ceil((until - now()) / 1000))
  }
  return {
    closedFor: (source) => {
      const age = now() - readAt
      if (age < freshMs || now() - failedAt < failedMs) return secondsLeft(source)
      const reading = read()
      return age < staleMs ? secondsLeft(source) : within(patienceMs, reading).then(() => secondsLeft(source))
    },
    close: (source, seconds) => {
      held = new Map([...held, [source, now() + seconds * 1000]])
    },
  }
}
