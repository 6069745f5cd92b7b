import { availableParallelism } from 'node:os'
import { createWorkQueue, QueueFull, type WorkQueue } from '../../lib/work-queue.ts'
import { refuse } from '../protocol/errors.ts'
import { isCurrentHash, usualCost } from './algorithms.ts'
import { yields } from './hashing.ts'
import { createHashingThreads, type HashingThreads } from './hashing-threads.ts'

/**
 * Hashes passwords off the event loop, on all cores, where it yields to everything else; otherwise it leaves a core to that.
 * Those that would wait longer than a request may last are refused at once: 503 with Retry-After.
 */
export interface Passwords {
  readonly hash: (password: string) => Promise<string>
  /** False for a wrong password, and after as long a time where nothing is stored. */
  readonly compare: (password: string, stored: string | null) => Promise<boolean>
  /** Whether the stored hash should be replaced, now that the password is known. */
  readonly isOutdated: (stored: string) => boolean
  /** For one call: hashes that still wait when its time is up are dropped. */
  readonly on: (budget: { readonly check: () => void }) => Passwords
}

/** At 50 to 80 ms a hash the last in the queue waits for about five seconds. */
const waitingPerThread = 80

const usualThreads = (processes: number): number =>
  Math.max(1, Math.floor((yields ? availableParallelism() : availableParallelism() - 1) / processes))

export interface HashingOptions {
  /** How many processes of one service share the cores. */
  readonly processes?: number
  /** How many hash at a time. */
  readonly threads?: number
  /** How many may wait for each thread. */
  readonly waiting?: number
  /** Of bcrypt. */
  readonly cost?: number
}

export function createPasswords(options: HashingOptions = {}): Passwords {
  const { processes = 1, threads = usualThreads(processes), waiting = waitingPerThread, cost = usualCost } = options
  const queue = createWorkQueue({ workers: threads, waiting: threads * waiting })
  return passwordsOf({ queue, threads: createHashingThreads() }, cost, () => undefined)
}

interface Hashing {
  readonly queue: WorkQueue
  readonly threads: HashingThreads
}

function passwordsOf(hashing: Hashing, cost: number, check: () => void): Passwords {
  const { queue, threads } = hashing
  const queued = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await queue.run(() => {
        check()
        return work()
      })
    } catch (error) {
      if (error instanceof QueueFull) throw refuse('overloaded')
      throw error
    }
  }
  return {
    hash: (password) => queued(async () => String(await threads.run({ kind: 'hash', password, cost }))),
    compare: (password, stored) =>
      queued(async () => (await threads.run({ kind: 'compare', password, stored, cost })) === true),
    isOutdated: (stored) => !isCurrentHash(stored, cost),
    on: (budget) => passwordsOf(hashing, cost, budget.check),
  }
}
