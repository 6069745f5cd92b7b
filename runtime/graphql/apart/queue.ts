import type { QueueLimits } from '../../lib/sharing/fair-queue.ts'
import { createScheduler, QueueFull } from '../../lib/sharing/scheduler.ts'
import { refuse } from '../protocol/failures.ts'

/** Runs one piece of work at a time, in turns of the parties. @throws Refusal if too many wait */
export type Queue = <T>(party: string, work: () => Promise<T>) => Promise<T>

/** Each waiting request holds a body. */
const usualWaiting: QueueLimits = { each: 16, all: 64 }

export function createQueue(queue: QueueLimits = usualWaiting): Queue {
  const scheduler = createScheduler({ size: 1, queue })
  return async (party, work) => {
    try {
      return await scheduler.run({ party, kind: 'member' }, work)
    } catch (error) {
      throw error instanceof QueueFull ? refuse('OVERLOADED', overloaded) : error
    }
  }
}

const overloaded = 'Too many long documents wait to be read; try again shortly.'
