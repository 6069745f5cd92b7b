import type { AuthSettings } from '../settings/setting-keys.ts'

/** Limits by source address (spec/auth.md 10). */

export type LimitGroup = 'sign-up' | 'token' | 'verify' | 'factor'

/** A token bucket: its capacity, and its refill rate. */
export interface Bucket {
  readonly burst: number
  readonly perSecond: number
}

interface LimitRow {
  readonly setting: 'limit_sign_up' | 'limit_token' | 'limit_verify' | 'limit_factor'
  readonly seconds: number
  /** Simultaneous calls; null: as many as the whole period allows. */
  readonly burst: number | null
  /** Calls that a process may count locally before it reports them; see throttle.ts. */
  readonly unreported: number
}

/** A sign-in is two round trips: to report each would add a third. */
const limitRows: Readonly<Record<LimitGroup, LimitRow>> = {
  'sign-up': { setting: 'limit_sign_up', seconds: 300, burst: null, unreported: 0 },
  token: { setting: 'limit_token', seconds: 300, burst: 30, unreported: 9 },
  verify: { setting: 'limit_verify', seconds: 300, burst: null, unreported: 0 },
  factor: { setting: 'limit_factor', seconds: 60, burst: 30, unreported: 0 },
}

/** Null: the owner sets no limit. */
export function bucketOf(group: LimitGroup, settings: AuthSettings): Bucket | null {
  const { setting, seconds, burst } = limitRows[group]
  const most = settings[setting]
  return most === 0 ? null : { burst: burst ?? most, perSecond: most / seconds }
}

export const unreportedOf = (group: LimitGroup): number => limitRows[group].unreported

/** A process's state of a shared bucket. */
export interface Tally {
  /** Tokens of the bucket at the last report, refilled since. */
  readonly left: number
  /** Calls that were not reported and that exceed the refill. */
  readonly owed: number
  /** The time of this state, in milliseconds. */
  readonly at: number
  /** The time of the last report. */
  readonly askedAt: number
}

/**
 * The tally with one more call. A bucket that was never read counts as full. Surplus refill pays for unreported calls.
 */
export function countOne(tally: Tally | null, { burst, perSecond }: Bucket, now: number): Tally {
  if (tally === null) return { left: burst, owed: 1, at: now, askedAt: Number.NEGATIVE_INFINITY }
  const filled = tally.left + (Math.max(0, now - tally.at) / 1000) * perSecond
  const over = Math.max(0, filled - burst)
  return { ...tally, left: Math.min(burst, filled), owed: Math.max(0, tally.owed - over) + 1, at: now }
}

const refusedMs = 1_000

/** Whether the call is one too many, as far as is known: other processes only take from the bucket. */
export function isSpent({ left, owed, at, askedAt }: Tally): boolean {
  return owed > left && at - askedAt < refusedMs
}

/** Whether the bucket must be asked before the call may continue. */
export function mustAsk({ left, owed }: Tally, unreported: number): boolean {
  return owed > unreported || owed > left
}

/** While the bucket is asked: the call reports the owed ones, and others use the expected rest. */
export function whileAsking(tally: Tally): Tally {
  return { ...tally, left: Math.max(0, tally.left - tally.owed), owed: 0 }
}

/** The answer of a bucket. */
export interface Taken {
  readonly granted: boolean
  /** Its tokens after that. */
  readonly left: number
}

/** After the answer to `asked`: `present` contains calls since. A refused call owes nothing itself. */
export function whenAnswered(present: Tally | null, asked: Tally, { granted, left }: Taken, now: number): Tally {
  const owed = (present?.owed ?? 0) + (granted ? 0 : asked.owed - 1)
  return { left, owed, at: now, askedAt: now }
}
