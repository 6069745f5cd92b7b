import { createTurns, type TurnLimits, QueueFull } from '../../lib/turns.ts'
import { refuse } from '../protocol/failures.ts'

/** Runs one piece of work at a time, in turns of the parties. @throws Refusal if too many wait */
export type Queue = <T>(party: string, work: () => Promise<T>) => Promise<T>

/** Each waiting request holds a body. */
const usualWaiting: TurnLimits = { each: 16, all: 64 }

export function createQueue(waiting: TurnLimits = usualWaiting): Queue {
  const turns = createTurns(waiting)
  return async (party, work) => {
    try {
      return await turns.run(party, work)
    } catch (error) {
      throw error instanceof QueueFull ? refuse('OVERLOADED', overloaded) : error
    }
  }
}

const overloaded = 'Too many long documents wait to be read; try again shortly.'
