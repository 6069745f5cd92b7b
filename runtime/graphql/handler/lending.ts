import { notLent } from '../../db/pool/waiting.ts'
import { createWorkQueue, LeftQueue, QueueFull, type Waiter } from '../../lib/work-queue.ts'

/** Things that are made when they are needed, lent to one at a time, and kept for the next where that is wanted; where not, nobody waits. */
export interface Lending<T> {
  /**
   * Rejects with what making one rejects with, and with what `work` rejects with: then it is ended. DatabaseFailure where too many
   * wait (overloaded), and where the caller left while waiting (gone).
   */
  readonly lend: <R>(work: (one: T) => Promise<R>, waiter?: Waiter) => Promise<R>
  /** Ends those that are kept, and each that is lent once it is given back. */
  readonly close: () => void
}

export interface LendingOptions<T> {
  readonly make: () => Promise<T>
  readonly end: (one: T) => void
  /** Whether it can be lent once more. */
  readonly isGood: (one: T) => boolean
  /** How many of those that are kept there may be at once. */
  readonly most: number
  /** How many may wait for one. */
  readonly waiting: number
  /** False: each is ended when it is given back, and made for its borrower: in workers the turn of another request may never end. */
  readonly keeps: boolean
}

export function createLending<T>({ make, end, isGood, most, waiting, keeps }: LendingOptions<T>): Lending<T> {
  const queue = createWorkQueue({ workers: most, waiting })
  const idle: T[] = []
  let isClosed = false
  const take = async (): Promise<T> => {
    for (let one = idle.pop(); one !== undefined; one = idle.pop()) {
      if (isGood(one)) return one
      end(one)
    }
    return make()
  }
  const lendOne = async <R>(work: (one: T) => Promise<R>): Promise<R> => {
    const one = await take()
    let isKept = false
    try {
      const value = await work(one)
      isKept = keeps && !isClosed && isGood(one)
      return value
    } finally {
      // What ended it may have ended the others, which do not all know yet.
      if (!isGood(one)) idle.splice(0).forEach(end)
      if (isKept) idle.push(one)
      else end(one)
    }
  }
  return {
    lend: (work, waiter) =>
      keeps
        ? queue
            .run(() => lendOne(work), waiter)
            .catch((error: unknown) => {
              if (error instanceof LeftQueue) throw notLent('gone')
              throw error instanceof QueueFull ? notLent('overloaded') : error
            })
        : lendOne(work),
    close: () => {
      isClosed = true
      idle.splice(0).forEach(end)
    },
  }
}
