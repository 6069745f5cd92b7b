import { QueueFull } from './work-queue.ts'

/**
 * Runs one piece of work at a time. Waiting parties take turns, so that many pieces of one party do not delay another.
 */
export interface Turns {
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
