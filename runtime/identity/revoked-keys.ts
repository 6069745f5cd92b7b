import { singleFlight } from '../lib/caches.ts'
import { within } from '../lib/timers.ts'
import type { ListedKey } from './project-keys.ts'
import type { IsRevoked } from './jwt.ts'

/** The keys of the project, as cached in this process (spec/auth.md 2.1). */
export interface KnownKeys {
  /** Costs a set lookup while keys are used. Rejects with `unknown` while the list could never be read. */
  readonly isRevoked: IsRevoked
  /** The same for an open stream, from a list of up to twenty seconds ago: idle streams cause few reads. */
  readonly wasRevoked: IsRevoked
  /** As of the last read. */
  readonly listed: () => readonly ListedKey[]
  /** Reads them now. Rejects as `read` does. */
  readonly look: () => Promise<void>
  readonly stop: () => void
}

export interface KnownKeysOptions {
  readonly read: () => Promise<readonly ListedKey[]>
  /** The clock, in milliseconds. */
  readonly now: () => number
  /** The error before the first read. */
  readonly unknown: () => Error
  readonly reading: Reading
}

/**
 * `ahead`: concurrently with requests while there are any, so that none waits for it. `shared`: by the first request
 * that finds them old, for all requests in the meantime. `alone`: for runtimes in which no request may wait for
 * another's work; each read takes its own connection and is therefore rarer.
 */
type Reading = 'ahead' | 'shared' | 'alone'

const keptMs: Readonly<Record<Reading, number>> = { ahead: 500, shared: 500, alone: 10_000 }
/** The number of turns without a request for which reading continues; a later request reads the list itself. */
const idleTurns = 1
/** With the check interval of streams (live/streams/sessions.ts) less than the minute of spec/graphql.md 16. */
const keptForOpenMs = 20_000
/** The maximum wait for a database without an answer. */
const longestMs = 5_000

export function createKnownKeys({ read, now, unknown, reading }: KnownKeysOptions): KnownKeys {
  let listed: readonly ListedKey[] = []
  let revoked: ReadonlySet<string> | null = null
  let lookedAt = -Infinity
  let unused = 0
  let timer: NodeJS.Timeout | null = null

  const readOnce = async (): Promise<void> => {
    // The clock is read before the rows: a key revoked in between is seen the next time.
    const began = now()
    try {
      listed = await read()
      revoked = new Set(listed.filter(({ revokedAt }) => revokedAt !== null).map(({ id }) => id))
    } finally {
      lookedAt = began
    }
  }
  const look = reading === 'alone' ? readOnce : singleFlight(readOnce)
  const stop = (): void => {
    if (timer !== null) clearInterval(timer)
    timer = null
  }
  const turn = (): void => {
    unused += 1
    if (unused > idleTurns) stop()
    // While the database is away, the last list is better than no answer.
    else look().catch(() => undefined)
  }
  const lookFirst = async (id: string): Promise<boolean> => {
    await within(longestMs, look()).catch(() => undefined)
    if (revoked === null) throw unknown()
    return revoked.has(id)
  }
  const isOlderThan = (ms: number): boolean => now() - lookedAt >= ms
  /** Only after the list was read: until then no request may use the old one. */
  const readAhead = (): void => {
    if (reading === 'ahead') timer ??= setInterval(turn, keptMs.ahead).unref()
  }
  return {
    isRevoked: (id) => {
      unused = 0
      const isFresh = timer !== null || !isOlderThan(keptMs[reading])
      return revoked !== null && isFresh ? revoked.has(id) : lookFirst(id).finally(readAhead)
    },
    wasRevoked: (id) => (revoked === null || isOlderThan(keptForOpenMs) ? lookFirst(id) : revoked.has(id)),
    listed: () => listed,
    look,
    stop,
  }
}
