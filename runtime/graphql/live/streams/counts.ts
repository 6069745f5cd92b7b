import type { LiveObservation, LiveRuns, WatchedTable } from '../../../contract/observations.ts'
import type { RunEnd } from './run.ts'
import type { RunReason, StreamRefusal } from './stream-types.ts'

/** The activity of a hub, for observers. */
export type HubStats = Omit<LiveObservation, 'sockets' | 'streams' | 'watches' | 'waiting' | 'fault'>

export interface Counts {
  readonly ran: (reason: RunReason, end: RunEnd) => void
  readonly refused: (why: StreamRefusal) => void
  /** @param isHeard whether it mattered to a watch */
  readonly changed: (relation: string, isHeard: boolean) => void
  readonly lagged: (ms: number) => void
  /** @param watches the present number per relation */
  readonly stats: (watches: ReadonlyMap<string, number>) => HubStats
}

const lagsKept = 500

export function createCounts(): Counts {
  const runs = new Map<string, { -readonly [K in keyof LiveRuns]: LiveRuns[K] }>()
  const refused: Record<StreamRefusal, number> = { party: 0, all: 0, memory: 0 }
  const changesBy = new Map<string, { changes: number; unheard: number }>()
  const lags: number[] = []
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
    changed: (relation, isHeard) => {
      const known = changesBy.get(relation) ?? { changes: 0, unheard: 0 }
      known.changes += 1
      if (!isHeard) known.unheard += 1
      changesBy.set(relation, known)
    },
    lagged: (ms) => {
      lags.push(ms)
      if (lags.length > lagsKept) lags.shift()
    },
    stats: (watches) => ({
      runs: [...runs.values()].map((run) => ({ ...run })),
      refused: { ...refused },
      lags: [...lags],
      tables: [...new Set([...changesBy.keys(), ...watches.keys()])].map((relation): WatchedTable => ({
        relation,
        watches: watches.get(relation) ?? 0,
        ...(changesBy.get(relation) ?? { changes: 0, unheard: 0 }),
      })),
    }),
  }
}

function resultOf(end: RunEnd): LiveRuns['result'] | null {
  if (end.kind === 'answered') return end.changed ? 'changed' : 'same'
  return end.kind === 'failed' ? 'failed' : null
}
