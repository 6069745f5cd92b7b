import { availableParallelism } from 'node:os'
import { createWorkQueue, QueueFull, type WorkQueue } from '../../lib/work-queue.ts'
import { refuse } from '../protocol/errors.ts'
import { compareHash, isCurrentHash, makeHash, usualCost } from './algorithms.ts'

/**
 * Hashes passwords off the event loop. It leaves a core to everything else, and those that would wait longer than a
 * request may last are refused at once: 503 with Retry-After.
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
const waitingPerWorker = 80

export interface HashingOptions {
  readonly cores?: number
  /** How many may wait for each worker. */
  readonly waiting?: number
  /** Of bcrypt. */
  readonly cost?: number
}

export function createPasswords(options: HashingOptions = {}): Passwords {
  const { cores = availableParallelism(), waiting = waitingPerWorker, cost = usualCost } = options
  const workers = Math.max(1, cores - 1)
  return passwordsOf(createWorkQueue({ workers, waiting: workers * waiting }), cost, () => undefined)
}

function passwordsOf(queue: WorkQueue, cost: number, check: () => void): Passwords {
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
    hash: (password) => queued(() => makeHash(password, cost)),
    compare: (password, stored) => queued(() => compareHash(password, stored, cost)),
    isOutdated: (stored) => !isCurrentHash(stored, cost),
    on: (budget) => passwordsOf(queue, cost, budget.check),
  }
}
