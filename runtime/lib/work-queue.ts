/** The queue holds as many as it may; try again later. */
export class QueueFull extends Error {
  override readonly name = 'QueueFull'
}

export interface WorkQueue {
  /** Runs the work when its turn comes and rejects as it does; rejects at once with QueueFull when too many wait. */
  readonly run: <T>(work: () => Promise<T>) => Promise<T>
}

/** Makes a queue that runs `workers` pieces of work at a time, in the order of their coming; at most `waiting` wait. */
export function createWorkQueue(limits: { readonly workers: number; readonly waiting: number }): WorkQueue {
  const turns: (() => void)[] = []
  let running = 0
  const turn = async (): Promise<void> => {
    if (running < limits.workers) {
      running += 1
      return
    }
    if (turns.length >= limits.waiting) throw new QueueFull('Too many wait already.')
    // A piece of work that ends passes its place on, so `running` stays.
    await new Promise<void>((resolve) => turns.push(resolve))
  }
  const leave = (): void => {
    const next = turns.shift()
    if (next === undefined) running -= 1
    else next()
  }
  return {
    run: async (work) => {
      await turn()
      try {
        return await work()
      } finally {
        leave()
      }
    },
  }
}
