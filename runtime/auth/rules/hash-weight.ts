/**
 * How long a comparison with a password takes that fails (spec/auth.md 12): as long for every account, whatever hash is
 * stored for it. Pure rules of kinds of hashes; a kind is the beginning of a hash, up to its salt.
 */

/** Of bcrypt at cost 10, whose work is 1. */
const bcryptPattern = /^\$2[aby]\$(\d\d)/
/** Memory in KiB and passes. */
const argon2Pattern = /^\$argon2(?:i|id)\$v=\d+\$m=(\d+),t=(\d+)/
/** Cost, block size and lanes. */
const firebasePattern = /^\$fbscrypt\$v=1,n=(\d+),r=(\d+),p=(\d+)/

/** What Argon2 fills and scrypt mixes in the time of one hash of bcrypt at cost 10, rounded down (measured). */
const blocksPerHash = 100_000

/** The work of a kind of hash, in hashes of bcrypt at cost 10; of a text that is no hash, none. */
export function hashWork(kind: string): number {
  const numbers = (pattern: RegExp): readonly number[] | null => pattern.exec(kind)?.slice(1).map(Number) ?? null
  const bcrypt = numbers(bcryptPattern)
  if (bcrypt !== null) return bcryptWork(bcrypt[0] ?? 0)
  const argon2 = numbers(argon2Pattern)
  if (argon2 !== null) return product(argon2) / blocksPerHash
  const firebase = numbers(firebasePattern)
  if (firebase === null) return 0
  const [cost = 0, ...sizes] = firebase
  return (2 ** cost * product(sizes)) / blocksPerHash
}

const bcryptWork = (cost: number): number => 2 ** (cost - 10)

const product = (numbers: readonly number[]): number => numbers.reduce((all, one) => all * one, 1)

/** A step has room for a hash that takes twice its usual time. */
const room = 2

/** Of one that is known yet: of a processor that is slower than most. */
const unknownHashMs = 100

/** Well below the time that a request may take. */
const longestStepMs = 6_000

export interface HashPace {
  /** Kinds that the database holds. */
  readonly kinds: readonly string[]
  /** Cost of the hashes that we make. */
  readonly cost: number
  /** Milliseconds that the quickest of these took; null: none was made yet. */
  readonly quickestMs: number | null
}

/** The step in milliseconds: that of the slowest kind that is stored, or of our own where nothing slower is. */
export function stepMs({ kinds, cost, quickestMs }: HashPace): number {
  const own = bcryptWork(cost)
  const hashMs = (quickestMs ?? unknownHashMs * own) / own
  const slowest = Math.max(own, ...kinds.map(hashWork))
  return Math.min(longestStepMs, Math.ceil(room * hashMs * slowest))
}

/** How long to wait still, so that the whole is a multiple of the step; no longer than a request has time. */
export function remainingMs(tookMs: number, step: number): number {
  const end = Math.max(1, Math.ceil(tookMs / step)) * step
  return Math.max(0, Math.min(end, longestStepMs) - tookMs)
}
