/** Things that are made when they are needed, lent to one at a time, and kept for the next where that is wanted. */
export interface Lending<T> {
  /** Rejects with what making one rejects with, and with what `work` rejects with: then it is ended. */
  readonly lend: <R>(work: (one: T) => Promise<R>) => Promise<R>
  /** Ends those that are kept, and each that is lent once it is given back. */
  readonly close: () => void
}

export interface LendingOptions<T> {
  readonly make: () => Promise<T>
  readonly end: (one: T) => void
  /** Whether it can be lent once more. */
  readonly isGood: (one: T) => boolean
  /** How many there may be at once. */
  readonly most: number
  /** False: each is ended when it is given back. */
  readonly keeps: boolean
}

export function createLending<T>({ make, end, isGood, most, keeps }: LendingOptions<T>): Lending<T> {
  const idle: T[] = []
  const waiting: (() => void)[] = []
  let lent = 0
  let isClosed = false
  const take = async (): Promise<T> => {
    while (lent >= most) await new Promise<void>((resolve) => waiting.push(resolve))
    lent += 1
    for (let one = idle.pop(); one !== undefined; one = idle.pop()) {
      if (isGood(one)) return one
      end(one)
    }
    return make()
  }
  const giveBack = (one: T | null, failed: boolean): void => {
    lent -= 1
    if (one !== null && keeps && !isClosed && !failed && isGood(one)) idle.push(one)
    else if (one !== null) end(one)
    waiting.shift()?.()
  }
  return {
    lend: async (work) => {
      let one: T | null = null
      let failed = true
      try {
        one = await take()
        const value = await work(one)
        failed = false
        return value
      } finally {
        giveBack(one, failed)
      }
    },
    close: () => {
      isClosed = true
      idle.splice(0).forEach(end)
    },
  }
}
