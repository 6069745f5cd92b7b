import { pauseMs, retries } from '../../lib/retry.ts'

/**
 * Keeps us from hammering a server that refuses connections: after a failure nobody tries again for a growing while.
 */
export interface Backoff {
  /** True while nobody should try. */
  readonly waiting: () => boolean
  readonly failed: () => void
  readonly succeeded: () => void
}

/** `now` in milliseconds, never going backwards. */
export const createBackoff = (now: () => number): Backoff => {
  let failures = 0
  let until = -Infinity
  const failed = (): void => {
    // Attempts that were already under way when the first one failed tell nothing new.
    if (now() < until) return
    failures += 1
    until = now() + pauseMs(retries.connecting, failures)
  }
  const succeeded = (): void => {
    failures = 0
    until = -Infinity
  }
  return { waiting: () => now() < until, failed, succeeded }
}
