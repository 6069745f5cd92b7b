import { pauseMs, retries } from '../../lib/retry.ts'

/** Protects a server that refuses connections: after a failure no connection is tried during a growing pause. */
export interface Backoff {
  /** True during the pause. */
  readonly waiting: () => boolean
  readonly failed: () => void
  readonly succeeded: () => void
}

/** `now` in milliseconds, never going backwards. */
export const createBackoff = (now: () => number): Backoff => {
  let failures = 0
  let until = -Infinity
  const failed = (): void => {
    // Attempts that were under way when the first one failed do not count.
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
