import type { AuthSettings } from '../settings/setting-keys.ts'

/** Limits by source address (spec/auth.md 10). */

/** Groups of endpoints that share a limit. */
export type LimitGroup = 'sign-up' | 'token' | 'verify' | 'factor'

/** A token bucket: what it holds when it is full, and how fast it fills. */
export interface Bucket {
  readonly burst: number
  readonly perSecond: number
}

interface LimitRow {
  readonly setting: 'limit_sign_up' | 'limit_token' | 'limit_verify' | 'limit_factor'
  readonly seconds: number
  /** Calls at once; null: as many as the whole time allows. */
  readonly burst: number | null
  /** Calls that a process may count by itself before it reports them; see throttle.ts. */
  readonly untold: number
}

/** Only refreshing is so cheap that counting it everywhere would cost as much as the work itself. */
const limitRows: Readonly<Record<LimitGroup, LimitRow>> = {
  'sign-up': { setting: 'limit_sign_up', seconds: 300, burst: null, untold: 0 },
  token: { setting: 'limit_token', seconds: 300, burst: 30, untold: 9 },
  verify: { setting: 'limit_verify', seconds: 300, burst: null, untold: 0 },
  factor: { setting: 'limit_factor', seconds: 60, burst: 30, untold: 0 },
}

/** Null: the owner sets no limit. */
export function bucketOf(group: LimitGroup, settings: AuthSettings): Bucket | null {
  const { setting, seconds, burst } = limitRows[group]
  const most = settings[setting]
  return most === 0 ? null : { burst: burst ?? most, perSecond: most / seconds }
}

export const untoldOf = (group: LimitGroup): number => limitRows[group].untold

/** What one process knows of a bucket that all of them share. */
export interface Tally {
  /** Tokens that the bucket held when it was last asked, filled up since. */
  readonly left: number
  /** Calls that were not reported to the bucket and that it would not have refilled by now. */
  readonly owed: number
  /** When it was so, in milliseconds. */
  readonly at: number
  /** When the bucket was last asked. */
  readonly askedAt: number
}

/**
 * The tally with one more call in it. A bucket that was never read counts as full. Surplus refill pays for calls that
 * were not reported to the bucket.
 */
export function countOne(tally: Tally | null, { burst, perSecond }: Bucket, now: number): Tally {
  if (tally === null) return { left: burst, owed: 1, at: now, askedAt: Number.NEGATIVE_INFINITY }
  const filled = tally.left + (Math.max(0, now - tally.at) / 1000) * perSecond
  const over = Math.max(0, filled - burst)
  return { ...tally, left: Math.min(burst, filled), owed: Math.max(0, tally.owed - over) + 1, at: now }
}

const refusedMs = 1_000

/** Whether the call is one too many, as far as is known: the others only take from the bucket. */
export function isSpent({ left, owed, at, askedAt }: Tally): boolean {
  return owed > left && at - askedAt < refusedMs
}

/** Whether the bucket has to be asked before the call may go on. */
export function mustAsk({ left, owed }: Tally, untold: number): boolean {
  return owed > untold || owed > left
}

/** While the bucket is asked: the call that asks takes along what is owed, and others go by what should be left. */
export function whileAsking(tally: Tally): Tally {
  return { ...tally, left: Math.max(0, tally.left - tally.owed), owed: 0 }
}

/** What a bucket answered. */
export interface Taken {
  readonly granted: boolean
  /** Tokens that it holds after that. */
  readonly left: number
}

/** After the answer to `asked`: `present` is what others have added meanwhile. A refused call owes nothing itself. */
export function whenAnswered(present: Tally | null, asked: Tally, { granted, left }: Taken, now: number): Tally {
  const owed = (present?.owed ?? 0) + (granted ? 0 : asked.owed - 1)
  return { left, owed, at: now, askedAt: now }
}
