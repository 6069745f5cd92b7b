import { setTimeout as sleep } from 'node:timers/promises'

export interface RetryPolicy {
  /** How often in all; Infinity: until the process stops. */
  readonly attempts: number
  /** Milliseconds before the second attempt; each further pause is twice as long, up to `longestMs`. */
  readonly firstMs: number
  readonly longestMs: number
}

const atOnce = (attempts: number): RetryPolicy => ({ attempts, firstMs: 0, longestMs: 0 })

/** What is tried again, how often in all, and after how long. Whether a failure deserves it is decided where it is known. */
export const retries = {
  /** The first schema of a server, whose database may still come up. */
  firstSchema: { attempts: Infinity, firstMs: 250, longestMs: 5_000 },
  /** A compile that failed, with no change of the schema since. */
  compile: { attempts: Infinity, firstMs: 5_000, longestMs: 5_000 },
  /** A worker that ended by itself. */
  worker: { attempts: Infinity, firstMs: 100, longestMs: 5_000 },
  /** New connections, after one failed. Requests are refused meanwhile, so the pause decides how soon an outage is over. */
  connecting: { attempts: Infinity, firstMs: 100, longestMs: 400 },
  /** A connection that died as soon as it was made: what that says of the server, the next one tells. */
  newConnection: atOnce(2),
  /** A run of a live query that met an outage or too much else to do. */
  liveRun: { attempts: Infinity, firstMs: 100, longestMs: 5_000 },
  /** A request whose schema changes under it; the first attempt may end because another change was rolled back. */
  newerSchema: atOnce(9),
  /** An exchange of which nothing was kept, because of the state or the death of its connection. */
  exchange: atOnce(2),
  /** A statement of our own whose connection died. */
  ownStatement: atOnce(2),
  /** The first sign-in of a person with a provider, beside another one of the same person. */
  accountLink: atOnce(3),
  /** A challenge in the same microsecond as another one. */
  challenge: atOnce(5),
  /** A sign-in, while many others of the same account are compared. */
  passwordGuess: { attempts: 8, firstMs: 100, longestMs: 800 },
  /** The triggers of a live relation, while others hold locks on it. */
  liveInstall: { attempts: 6, firstMs: 50, longestMs: 800 },
  /** The same, once a compile has gone on without them. */
  liveInstallLater: { attempts: Infinity, firstMs: 1_000, longestMs: 30_000 },
  /** What follows the changes of live relations, after it lost the database. */
  liveChanges: { attempts: Infinity, firstMs: 50, longestMs: 2_000 },
  /** The gates of relations, while no process leads. */
  liveLeader: { attempts: Infinity, firstMs: 20, longestMs: 500 },
  /** Transactions that may have written before a gate was open. */
  liveHolders: { attempts: Infinity, firstMs: 10, longestMs: 1_000 },
  /** The claim of a data folder, after the lock of a dead process was removed. */
  folderClaim: atOnce(2),
} as const satisfies Readonly<Record<string, RetryPolicy>>

/** A failure that no further attempt fixes: somebody has to change a setting first. */
export class Hopeless extends Error {
  override readonly name = 'Hopeless'
}

export const pauseMs = ({ firstMs, longestMs }: RetryPolicy, attempt: number): number =>
  Math.min(firstMs * 2 ** Math.min(attempt - 1, 30), longestMs)

/** Calls a function until it succeeds. Rejects with its last failure, or with the first that does not deserve another attempt. */
export async function retry<T>(
  policy: RetryPolicy,
  work: () => Promise<T>,
  deservesAnother: (error: unknown, attempt: number) => boolean,
  signal?: AbortSignal,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work()
    } catch (error) {
      if (attempt >= policy.attempts || signal?.aborted === true || !deservesAnother(error, attempt)) throw error
      const ms = pauseMs(policy, attempt)
      if (ms > 0) await sleep(ms, undefined, { signal })
    }
  }
}
