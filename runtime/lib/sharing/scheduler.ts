import { createFairQueue, type QueueLimits } from './fair-queue.ts'
import { createPlaces, type Lease, type PlacesOptions, type Sharer } from './places.ts'

/** The queue is full; try again later. */
export class QueueFull extends Error {
  override readonly name = 'QueueFull'
}

/** The caller left while it waited. */
export class LeftQueue extends Error {
  override readonly name = 'LeftQueue'
}

/** The caller of a piece of work, who may leave while it waits. */
export interface Waiter {
  /** Called when that happens. */
  onAbort: (() => void) | null
}

export interface WorkOptions {
  readonly waiter?: Waiter | undefined
  /** Stops work that turned slow while other slow work has all places that slow work may have. It may begin again. */
  readonly stop?: () => void
  /** The milliseconds of the work that count for its pace; absent: all. */
  readonly ownMs?: () => number
}

/** Work that shares places: each piece runs once it has one (docs/sharing.md). */
export interface Scheduler {
  /** Runs work in its turn. Rejects as it does, or with QueueFull or LeftQueue. */
  readonly run: <T>(sharer: Sharer | undefined, work: () => Promise<T>, options?: WorkOptions) => Promise<T>
  readonly waiting: () => number
}

export interface SchedulerOptions extends PlacesOptions {
  /** Absent: any number waits. */
  readonly queue?: QueueLimits
  /** A party with more work rests as many times as long as a piece of it took, and has a place less; absent: not. */
  readonly rests?: number
}

const longestRestMs = 1_000

/** A timer may come some milliseconds early by the monotonic clock. */
const surely = 1.1

interface Entry {
  readonly sharer: Sharer | undefined
  readonly begin: (lease: Lease) => void
}

export function createScheduler({ queue: limits, rests = 0, ...options }: SchedulerOptions): Scheduler {
  const places = createPlaces(options)
  const queue = createFairQueue<Entry>(places, limits)
  let rechecking: NodeJS.Timeout | null = null
  const fill = (): void => {
    for (let entry = queue.next(); entry !== null; entry = queue.next()) entry.begin(places.take(entry.sharer))
    if (queue.waiting.count === 0 || !places.hasFree() || rechecking !== null) return
    rechecking = setTimeout(() => {
      rechecking = null
      fill()
    }, places.recheckMs)
    rechecking.unref()
  }
  const turn = (sharer: Sharer | undefined, waiter: Waiter | undefined): Promise<Lease> =>
    new Promise((resolve, reject) => {
      const end = (): void => {
        if (waiter !== undefined) waiter.onAbort = null
      }
      const begin = (lease: Lease): void => {
        end()
        resolve(lease)
      }
      const entry: Entry = { sharer, begin }
      if (!queue.add(entry)) return reject(new QueueFull('Too many wait already.'))
      if (waiter !== undefined) {
        waiter.onAbort = () => {
          end()
          queue.remove(entry)
          reject(new LeftQueue('The waiter left.'))
        }
      }
      fill()
    })
  const rest = (party: string, ms: number): void => {
    if (ms < 1) return
    const endRest = places.rest(party)
    const end = (): void => {
      endRest()
      fill()
    }
    setTimeout(end, Math.min(longestRestMs, ms)).unref()
  }
  const { slowMs } = options.speed ?? { slowMs: Infinity }
  return {
    run: async (sharer, work, { waiter, stop, ownMs } = {}) => {
      const lease = places.mayTake(sharer) ? places.take(sharer) : await turn(sharer, waiter)
      const watching = stop && setInterval(() => places.isOver(lease) && stop(), slowMs * surely)
      try {
        return await work()
      } finally {
        clearInterval(watching)
        const ms = ownMs?.()
        if (rests > 0 && sharer !== undefined && queue.waitsWith({ sharer })) rest(sharer.party, rests * (ms ?? 0))
        places.release(lease, ms)
        if (queue.waiting.count > 0) fill()
      }
    },
    waiting: () => queue.waiting.count,
  }
}
