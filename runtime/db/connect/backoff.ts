/**
 * Keeps us from hammering a server that refuses connections: after a failure nobody tries again for a growing while.
 */
export interface Backoff {
  /** True while nobody should try. */
  readonly waiting: () => boolean
  readonly failed: () => void
  readonly succeeded: () => void
}

const shortest = 100
const longest = 5_000

/** `now` in milliseconds, never going backwards. */
export const createBackoff = (now: () => number): Backoff => {
  let pause = 0
  let until = -Infinity
  const failed = (): void => {
    // Attempts that were already under way when the first one failed tell nothing new.
    if (now() < until) return
    pause = Math.min(longest, pause === 0 ? shortest : pause * 2)
    until = now() + pause
  }
  const succeeded = (): void => {
    pause = 0
    until = -Infinity
  }
  return { waiting: () => now() < until, failed, succeeded }
}
