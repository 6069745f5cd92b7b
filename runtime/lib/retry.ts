import { setTimeout as sleep } from 'node:timers/promises'

export interface RetryOptions {
  /** Milliseconds before the second attempt; each further pause is twice as long, up to `longestMs`. */
  readonly firstMs: number
  readonly longestMs: number
  readonly onFailure: (error: unknown, attempt: number, pauseMs: number) => void
  /** Ends the waiting: the last failure is then thrown. */
  readonly signal: AbortSignal
}

/** A failure that no further attempt mends: somebody has to change a setting first. */
export class Hopeless extends Error {
  override readonly name = 'Hopeless'
}

/** Calls a function until it succeeds, with growing pauses in between. Rejects when it is told to stop, or with Hopeless. */
export async function retry<T>(work: () => Promise<T>, options: RetryOptions): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (options.signal.aborted || error instanceof Hopeless) throw error
      const pauseMs = Math.min(options.firstMs * 2 ** Math.min(attempt - 1, 30), options.longestMs)
      options.onFailure(error, attempt, pauseMs)
      await sleep(pauseMs, undefined, { signal: options.signal })
    }
  }
}
