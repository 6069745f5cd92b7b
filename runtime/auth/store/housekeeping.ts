import type { RunStatement } from '../../db/pool/statements.ts'
import type { ReadAuthState } from '../settings/load.ts'
import { createLeftovers } from './leftovers.ts'

/** Deletes what nothing needs any more, a little at a time (spec/auth.md 12). */
export interface Housekeeping {
  /** Nothing new begins; resolves when what runs has ended. */
  readonly stop: () => Promise<void>
}

const everyMs = 10 * 60_000
/** Between two steps, so that requests are never kept waiting. */
const pauseMs = 250

/** Begins some minutes from now, at another moment in each process; a failed run is repeated the next time. */
export function startHousekeeping(run: RunStatement, state: ReadAuthState): Housekeeping {
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> = Promise.resolve()
  let stopped = false
  const leftovers = createLeftovers(run)
  const after = (ms: number): void => {
    if (stopped) return
    timer = setTimeout(() => {
      running = tidy().then(after)
    }, ms).unref()
  }
  /** Gives the milliseconds until the next time. */
  const tidy = async (): Promise<number> => {
    try {
      const now = await state()
      return now.kind === 'enabled' && (await leftovers.tidy(now.settings)) ? pauseMs : everyMs
    } catch {
      return everyMs
    }
  }
  after(everyMs * (0.5 + Math.random()))
  return {
    stop: async () => {
      stopped = true
      clearTimeout(timer)
      await running
    },
  }
}
