import type { RunStatement } from '../../db/pool/statements.ts'
import { singleFlight } from '../../lib/caches.ts'
import { within } from '../../lib/timers.ts'
import { refuse, type AuthFailure } from '../protocol/errors.ts'
import {
  bucketOf,
  countOne,
  isSpent,
  mustAsk,
  unreportedOf,
  whenAnswered,
  whileAsking,
  type Bucket,
  type LimitGroup,
  type Tally,
} from '../rules/rate-limits.ts'
import type { AuthSettings } from '../settings/setting-keys.ts'
import { countFailure, listClosed, takeTokens, takeWithin } from '../store/throttles.ts'
import type { WhereReady } from '../schema/migrate.ts'

/**
 * Limits by source address, shared by all processes through Postgres (spec/auth.md 10). The cost: a blocked address is
 * known from memory. A call of a limited group is one small statement without a disk flush, beside the hash or the
 * writes of the call. Of the group `token` a process reports ten calls of a source together, fewer towards the limit, so
 * that with several processes up to nine calls more than the limit can pass in each. A source without calls left is
 * refused from memory for a second.
 */
export interface Throttle {
  /** Seconds for which a source is blocked for every service; 0: not blocked. Never rejects. */
  readonly closedFor: (source: () => string) => number | Promise<number>
  /** Throws 429 `over_request_rate_limit` while the address is blocked. */
  readonly refuseBanned: (source: string) => Promise<void>
  /** Takes one call of a group's allowance; throws 429 `over_request_rate_limit` if none is left. */
  readonly take: (group: LimitGroup, source: string, settings: AuthSettings) => Promise<void>
  /**
   * Admits a guest; throws 429 `over_request_rate_limit` if the source has used its allowance of the last hour. The
   * window slides: no period of an hour has more of them (spec/auth.md, fact 20).
   */
  readonly takeGuest: (source: string, settings: AuthSettings) => Promise<void>
  /** Receives each 4xx that counts towards blocking the address; see column `counted` of routes.ts. Never rejects. */
  readonly failed: (source: string, settings: AuthSettings) => Promise<void>
}

export interface ThrottleParts {
  readonly run: RunStatement
  readonly whereReady: WhereReady
  readonly now: () => number
}

export function createThrottle({ run, whereReady, now }: ThrottleParts): Throttle {
  const closed = createClosedAddresses(run, whereReady, now)
  const take = createLimiter({ run, now })
  return {
    closedFor: closed.closedFor,
    refuseBanned: async (source) => {
      const seconds = await closed.closedFor(() => source)
      if (seconds > 0) throw refuse('over_request_rate_limit', { retryAfter: seconds })
    },
    take,
    takeGuest: async (source, { limit_guests: most }) => {
      if (most === 0) return
      const seconds = await takeWithin(run, source, most, guestWindowSeconds)
      if (seconds !== null) throw refuse('over_request_rate_limit', { retryAfter: Math.max(1, Math.ceil(seconds)) })
    },
    failed: async (source, settings) => {
      if (settings.ban_threshold === 0) return
      // The call fails in any case; losing its count with the database is acceptable.
      const seconds = await countFailure(run, source, settings).catch(() => null)
      if (seconds !== null) closed.close(source, seconds)
    },
  }
}

const guestWindowSeconds = 3_600

/** Sources that one process remembers; more are an attack, and forgetting costs a statement each. */
const mostTallies = 50_000

function createLimiter({ run, now }: Pick<ThrottleParts, 'run' | 'now'>): Throttle['take'] {
  const tallies = new Map<string, Tally>()
  const remember = (key: string, tally: Tally): void => {
    if (tallies.size >= mostTallies) tallies.clear()
    tallies.set(key, tally)
  }
  return async (group, source, settings) => {
    const bucket = bucketOf(group, settings)
    if (bucket === null) return
    const key = `${group} ${source}`
    const tally = countOne(tallies.get(key) ?? null, bucket, now())
    if (isSpent(tally)) throw tooMany(tally, bucket)
    if (!mustAsk(tally, unreportedOf(group))) return remember(key, tally)
    remember(key, whileAsking(tally))
    const taken = await takeTokens(run, group, source, bucket, tally.owed)
    remember(key, whenAnswered(tallies.get(key) ?? null, tally, taken, now()))
    if (!taken.granted) throw tooMany({ ...tally, left: taken.left }, bucket)
  }
}

const tooMany = ({ left, owed }: Tally, { perSecond }: Bucket): AuthFailure =>
  refuse('over_request_rate_limit', { retryAfter: Math.max(1, Math.ceil((owed - left) / perSecond)) })

/**
 * The source addresses that are blocked for the whole project (spec/auth.md 10), cached in this process. Every request
 * of every service reads the list, so it is in memory: it is read again, concurrently with requests, once it is older
 * than `freshMs`. Only a process without requests for longer than `staleMs` waits for it, and not for long.
 */
interface ClosedAddresses {
  /**
   * The seconds for which a source remains blocked; 0: not blocked. A promise only while the list must be awaited;
   * never rejects.
   */
  readonly closedFor: (source: () => string) => number | Promise<number>
  /** This process has just blocked it. */
  readonly close: (source: string, seconds: number) => void
}

const freshMs = 500
const staleMs = 2_000
/** Longer than a healthy database takes, and acceptable for a request while it is unavailable. */
const patienceMs = 250
/** The pause of lookups if auth was never set up, so that there is no list, or if the database is unavailable. */
const failedMs = 10_000

function createClosedAddresses(run: RunStatement, whereReady: WhereReady, now: () => number): ClosedAddresses {
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
