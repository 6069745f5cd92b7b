import { refusedConnection } from '../../db/pool/waiting.ts'
import { createScheduler, LeftQueue, QueueFull, type Waiter } from '../../lib/sharing/scheduler.ts'

/** Objects that are created on demand, each for one caller at a time; if not kept, no caller waits for one. */
export interface ObjectPool<T> {
  /**
   * Rejects with the error of creating one, or with that of `work`: the object is then ended. DatabaseFailure if too
   * many wait (overloaded), or if the caller disconnected while waiting (gone).
   */
  readonly use: <R>(work: (one: T) => Promise<R>, waiter?: Waiter) => Promise<R>
  /** Ends the idle objects, and each other one on its release. */
  readonly close: () => void
}

export interface ObjectPoolOptions<T> {
  readonly make: () => Promise<T>
  readonly end: (one: T) => void
  /** Whether it can be used again. */
  readonly isGood: (one: T) => boolean
  /** The maximum number of kept ones. */
  readonly most: number
  readonly waiting: number
  /** False: each caller gets its own object: in workers another request's promise may never settle. */
  readonly keeps: boolean
}

export function createObjectPool<T>({ make, end, isGood, most, waiting, keeps }: ObjectPoolOptions<T>): ObjectPool<T> {
  const scheduler = createScheduler({ size: most, queue: { each: waiting, all: waiting } })
  const idle: T[] = []
  let isClosed = false
  const acquire = async (): Promise<T> => {
    for (let one = idle.pop(); one !== undefined; one = idle.pop()) {
      if (isGood(one)) return one
      end(one)
    }
    return make()
  }
  const useOne = async <R>(work: (one: T) => Promise<R>): Promise<R> => {
    const one = await acquire()
    let isKept = false
    try {
      const value = await work(one)
      isKept = keeps && !isClosed && isGood(one)
      return value
    } finally {
      // The same cause may have ended the others, which may not have noticed it yet.
      if (!isGood(one)) idle.splice(0).forEach(end)
      if (isKept) idle.push(one)
      else end(one)
    }
  }
  return {
    use: (work, waiter) =>
      keeps
        ? scheduler
            .run(undefined, () => useOne(work), { waiter })
            .catch((error: unknown) => {
              if (error instanceof LeftQueue) throw refusedConnection('gone')
              throw error instanceof QueueFull ? refusedConnection('overloaded') : error
            })
        : useOne(work),
    close: () => {
      isClosed = true
      idle.splice(0).forEach(end)
    },
  }
}
