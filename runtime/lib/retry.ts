import { setTimeout as sleep } from 'node:timers/promises'
import { within } from './timers.ts'

export interface RetryPolicy {
  /** The total number; Infinity: until the process stops. */
  readonly attempts: number
  /** Milliseconds before the second attempt; each further pause is twice as long, up to `longestMs`. */
  readonly firstMs: number
  readonly longestMs: number
}

const atOnce = (attempts: number): RetryPolicy => ({ attempts, firstMs: 0, longestMs: 0 })

/** The retry policies. Whether a failure is worth a retry is decided by its caller. */
export const retries = {
  /** The first schema of a server, whose database may still start. */
  firstSchema: { attempts: Infinity, firstMs: 250, longestMs: 5_000 },
  /** A failed compile, without a change of the schema since. */
  compile: { attempts: Infinity, firstMs: 5_000, longestMs: 5_000 },
  /** A worker that ended unexpectedly. */
  worker: { attempts: Infinity, firstMs: 100, longestMs: 5_000 },
  /** New connections after a failure. Requests are refused in between, so the pause decides when an outage ends. */
  connecting: { attempts: Infinity, firstMs: 100, longestMs: 400 },
  /** A connection that died right after it was opened: the next one shows the state of the server. */
  newConnection: atOnce(2),
  /** A run of a live query during an outage or overload. */
  liveRun: { attempts: Infinity, firstMs: 100, longestMs: 5_000 },
  /** A request whose schema changes during it, until its deadline; before each attempt it waits for the newest schema. */
  newerSchema: { attempts: Infinity, firstMs: 0.1, longestMs: 10 },
  /** An exchange without any effect, because of the state or the death of its connection. */
  exchange: atOnce(2),
  /** Our own statement whose connection died. */
  ownStatement: atOnce(2),
  /** The first sign-in of a person with a provider, concurrently with another of the same person. */
  accountLink: atOnce(3),
  /** A challenge in the same microsecond as another. */
  challenge: atOnce(5),
  /** A sign-in, while many others of the same account are checked. */
  passwordGuess: { attempts: 8, firstMs: 100, longestMs: 800 },
  /** The triggers of a live relation, while other sessions hold locks on it. */
  liveInstall: { attempts: 6, firstMs: 50, longestMs: 800 },
  /** The same, after a compile has continued without them. */
  liveInstallLater: { attempts: Infinity, firstMs: 1_000, longestMs: 30_000 },
  /** The reader of live changes, after it lost the database. */
  liveChanges: { attempts: Infinity, firstMs: 50, longestMs: 2_000 },
  /** The gates of relations, while no process leads or a migration holds a lock. */
  liveLeader: { attempts: Infinity, firstMs: 20, longestMs: 500 },
  /** Transactions that may have written before a gate was open. */
  liveHolders: { attempts: Infinity, firstMs: 10, longestMs: 1_000 },
  /** The claim of a data folder, after the lock of a dead process was removed. */
  folderClaim: atOnce(2),
} as const satisfies Readonly<Record<string, RetryPolicy>>

/** A failure that no retry fixes: a setting must be changed first. */
export class Hopeless extends Error {
  override readonly name = 'Hopeless'
}

export const pauseMs = ({ firstMs, longestMs }: RetryPolicy, attempt: number): number =>
  Math.min(firstMs * 2 ** Math.min(attempt - 1, 30), longestMs)

/** Calls a function until it succeeds. Rejects with its last failure, or with the first that is not worth a retry. */
export async function retry<T>(
  policy: RetryPolicy,
  work: () => Promise<T>,
  isRetryable: (error: unknown, attempt: number) => boolean,
  signal?: AbortSignal,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work()
    } catch (error) {
      if (attempt >= policy.attempts || signal?.aborted === true || !isRetryable(error, attempt)) throw error
      const ms = pauseMs(policy, attempt)
      if (ms > 0) await sleep(ms, undefined, { signal })
    }
  }
}

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

interface Probe<Result> {
  /** Rejects if the server is not available. */
  readonly probe: () => Promise<Result>
  /** @param at when the question was sent, on the monotonic clock in milliseconds */
  readonly onResult: (result: Result, at: number) => void
  readonly onFailure: (error: unknown) => void
  /** Also called if it failed without an answer. */
  readonly onTimeout?: () => void
  /** The pause before the next probe, in milliseconds. */
  readonly pauseMs: () => number
  /** The time limit of a probe, in milliseconds. */
  readonly timeoutMs: number
}

/** Probes a server repeatedly until the result is called. It keeps no process alive. */
export function watchServer<Result>(options: Probe<Result>): () => void {
  const { probe, onResult, onFailure, onTimeout, pauseMs, timeoutMs } = options
  let timer: NodeJS.Timeout | null = null
  let isOver = false
  const round = async (): Promise<void> => {
    const at = performance.now()
    // One probe at a time, also of a silent server.
    const answered = probe().then(
      (result) => isOver || onResult(result, at),
      (error: unknown) => isOver || onFailure(error),
    )
    if (!(await within(timeoutMs, answered)) && !isOver) {
      onFailure(new Error(`no answer within ${timeoutMs} ms`))
      onTimeout?.()
    }
    await answered
    if (!isOver) timer = setTimeout(() => void round(), pauseMs()).unref()
  }
  void round()
  return () => {
    isOver = true
    if (timer !== null) clearTimeout(timer)
  }
}
