/**
 * The duration of a failed password comparison (spec/auth.md 12): equal for every account, whatever hash it has. Pure
 * rules about kinds of hashes; a kind is the beginning of a hash, up to its salt.
 */

/** Of bcrypt; cost 10 is the unit of work. */
const bcryptPattern = /^\$2[aby]\$(\d\d)/
/** Memory in KiB and passes. */
const argon2Pattern = /^\$argon2(?:i|id)\$v=\d+\$m=(\d+),t=(\d+)/
/** Cost, block size and lanes. */
const firebasePattern = /^\$fbscrypt\$v=1,n=(\d+),r=(\d+),p=(\d+)/

/** Blocks that Argon2 fills and scrypt mixes in the time of one bcrypt hash at cost 10, rounded down (measured). */
const blocksPerHash = 100_000

/** The work of a kind of hash, in bcrypt hashes at cost 10; 0 for a text that is not a hash. */
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

/** For an unmeasured hash: that of a slow processor. */
const unknownHashMs = 100

/** Well below the time limit of a request. */
const longestStepMs = 6_000

export interface HashPace {
  /** Kinds in the database. */
  readonly kinds: readonly string[]
  /** Cost of new hashes. */
  readonly cost: number
  /** The fastest of these in milliseconds; null: none was made yet. */
  readonly quickestMs: number | null
}

/** The step in milliseconds: that of the slowest stored kind, or of our own if none is slower. */
export function stepMs({ kinds, cost, quickestMs }: HashPace): number {
  const own = bcryptWork(cost)
  const hashMs = (quickestMs ?? unknownHashMs * own) / own
  const slowest = Math.max(own, ...kinds.map(hashWork))
  return Math.min(longestStepMs, Math.ceil(room * hashMs * slowest))
}

/** The remaining wait, so that the total is a multiple of the step; at most the time of a request. */
export function remainingMs(tookMs: number, step: number): number {
  const end = Math.max(1, Math.ceil(tookMs / step)) * step
  return Math.max(0, Math.min(end, longestStepMs) - tookMs)
}
