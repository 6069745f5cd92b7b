import { availableParallelism } from 'node:os'
import { createWorkQueue, QueueFull } from '../../lib/work-queue.ts'
import { refuse } from '../errors.ts'
import { compareHash, isCurrentHash, makeHash } from './algorithms.ts'

/**
 * Hashes passwords off the event loop. It leaves a core to everything else, and those that would wait longer than a
 * request may last are refused at once: 503 with Retry-After.
 */
export interface Passwords {
  readonly hash: (password: string) => Promise<string>
  /** False for a wrong password, and after as long a time where nothing is stored. */
  readonly compare: (password: string, stored: string | null) => Promise<boolean>
  /** Whether a stored hash should be made anew, now that the password is known. */
  readonly isOutdated: (stored: string) => boolean
}

/** At 50 to 80 ms a hash the last in the queue waits for about five seconds. */
const waitingPerWorker = 80

export function createPasswords(cores = availableParallelism()): Passwords {
  const workers = Math.max(1, cores - 1)
  const queue = createWorkQueue({ workers, waiting: workers * waitingPerWorker })
  const queued = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await queue.run(work)
    } catch (error) {
      if (error instanceof QueueFull) throw refuse('overloaded')
      throw error
    }
  }
  return {
    hash: (password) => queued(() => makeHash(password)),
    compare: (password, stored) => queued(() => compareHash(password, stored)),
    isOutdated: (stored) => !isCurrentHash(stored),
  }
}
