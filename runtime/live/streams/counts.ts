import type { RunEnd } from './run.ts'
import type { RunReason, StreamRefusal } from './types.ts'
import type { LiveWatch } from './watch.ts'

/** What a hub does and has done, for those who watch it. */
export interface HubStats {
  readonly streams: number
  readonly watches: number
  /** Watches that wait for a run. */
  readonly waiting: number
  readonly runs: readonly RunCount[]
  readonly refused: Readonly<Record<StreamRefusal, number>>
}

export interface RunCount {
  readonly reason: RunReason
  readonly result: RunResult
  readonly count: number
}

/** Whether a run's answer was another one than the last. */
type RunResult = 'changed' | 'same' | 'failed'

export interface Counts {
  readonly ran: (reason: RunReason, end: RunEnd) => void
  readonly refused: (why: StreamRefusal) => void
  readonly stats: (streams: number, watches: ReadonlyMap<string, LiveWatch>, waiting: number) => HubStats
}

export function createCounts(): Counts {
  const runs = new Map<string, { reason: RunReason; result: RunResult; count: number }>()
  const refused: Record<StreamRefusal, number> = { party: 0, all: 0, memory: 0 }
  return {
    ran: (reason, end) => {
      const result = resultOf(end)
      if (result === null) return
      const key = `${reason} ${result}`
      const known = runs.get(key) ?? { reason, result, count: 0 }
      known.count += 1
      runs.set(key, known)
    },
    refused: (why) => (refused[why] += 1),
    stats: (streams, watches, waiting) => ({
      streams,
      watches: watches.size,
      waiting,
      runs: [...runs.values()].map((run) => ({ ...run })),
      refused: { ...refused },
    }),
  }
}

function resultOf(end: RunEnd): RunResult | null {
  if (end.kind === 'answered') return end.changed ? 'changed' : 'same'
  return end.kind === 'failed' ? 'failed' : null
}
