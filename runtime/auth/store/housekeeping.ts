import type { RunStatement } from '../../db/pool/statements.ts'
import type { ReadAuthState } from '../settings/load.ts'
import { createLeftovers } from './leftovers.ts'

/** Deletes unneeded rows in small steps (spec/auth.md 12). */
export interface Housekeeping {
  /** Begins no more work; resolves when the current work has ended. */
  readonly stop: () => Promise<void>
}

const everyMs = 10 * 60_000
/** Between two steps, so that requests are not delayed. */
const pauseMs = 250

/** Begins in some minutes, at a different time in each process; a failed run is repeated the next time. */
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
  /** Returns the milliseconds until the next time. */
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
