/** Runs work for parties, few at a time and in turns: a thousand watches of one party do not delay another's. */
export interface RunQueue {
  /** @param work never rejects */
  readonly add: (party: string, work: () => Promise<void>) => void
  readonly size: () => number
}

type Work = () => Promise<void>

export function createRunQueue(most: number): RunQueue {
  /** In the order of their turns; a party without work has no entry. */
  const parties = new Map<string, Set<Work>>()
  let running = 0
  let waiting = 0
  const next = (): Work | null => {
    for (const [party, queue] of parties) {
      parties.delete(party)
      for (const work of queue) {
        queue.delete(work)
        // Behind all others.
        if (queue.size > 0) parties.set(party, queue)
        return work
      }
    }
    return null
  }
  const fill = (): void => {
    while (running < most) {
      const work = next()
      if (work === null) return
      waiting -= 1
      running += 1
      void work().finally(() => {
        running -= 1
        fill()
      })
    }
  }
  return {
    add: (party, work) => {
      const queue = parties.get(party) ?? new Set()
      parties.set(party, queue.add(work))
      waiting += 1
      fill()
    },
    size: () => waiting,
  }
}
