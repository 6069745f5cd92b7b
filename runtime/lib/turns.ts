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

export interface WorkQueue {
  /** Runs the work in its turn. Rejects as it does, or with QueueFull or LeftQueue. */
  readonly run: <T>(work: () => Promise<T>, waiter?: Waiter) => Promise<T>
}

/** Creates a queue that runs `workers` pieces of work at a time, in order of arrival; at most `waiting` wait. */
export function createWorkQueue(limits: { readonly workers: number; readonly waiting: number }): WorkQueue {
  const turns = new Set<() => void>()
  let running = 0
  const turn = async (waiter: Waiter | undefined): Promise<void> => {
    if (running < limits.workers) {
      running += 1
      return
    }
    if (turns.size >= limits.waiting) throw new QueueFull('Too many wait already.')
    // A finished piece of work passes its place on, so `running` stays.
    const wait = new Promise<void>((resolve, reject) => {
      turns.add(resolve)
      if (waiter === undefined) return
      waiter.onAbort = () => {
        turns.delete(resolve)
        reject(new LeftQueue('The waiter left.'))
      }
    })
    await wait.finally(() => {
      if (waiter !== undefined) waiter.onAbort = null
    })
  }
  const leave = (): void => {
    const [next] = turns
    if (next === undefined) running -= 1
    else {
      turns.delete(next)
      next()
    }
  }
  return {
    run: async (work, waiter) => {
      await turn(waiter)
      try {
        return await work()
      } finally {
        leave()
      }
    },
  }
}

/**
 * Runs one piece of work at a time. Waiting parties take turns, so that many pieces of one party do not delay another.
 */
interface Turns {
  /** Runs the work in its party's turn and rejects as it does; rejects with QueueFull if too many wait. */
  readonly run: <T>(party: string, work: () => Promise<T>) => Promise<T>
}

export interface TurnLimits {
  /** The maximum that wait for one party. */
  readonly each: number
  readonly all: number
}

export function createTurns({ each, all }: TurnLimits): Turns {
  /** The waiting pieces, in order of their parties' turns. */
  const parties = new Map<string, (() => void)[]>()
  let waiting = 0
  let busy = false
  const turn = async (party: string): Promise<void> => {
    if (!busy) {
      busy = true
      return
    }
    const queue = parties.get(party) ?? []
    if (waiting >= all || queue.length >= each) throw new QueueFull('Too many wait already.')
    waiting += 1
    await new Promise<void>((resolve) => {
      queue.push(resolve)
      parties.set(party, queue)
    })
  }
  const leave = (): void => {
    const [next] = parties
    if (next === undefined) {
      busy = false
      return
    }
    const [party, queue] = next
    const go = queue.shift()
    waiting -= 1
    parties.delete(party)
    // Behind all others.
    if (queue.length > 0) parties.set(party, queue)
    go?.()
  }
  return {
    run: async (party, work) => {
      await turn(party)
      try {
        return await work()
      } finally {
        leave()
      }
    },
  }
}
