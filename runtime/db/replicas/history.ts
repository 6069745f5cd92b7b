import type { Position } from '../../contract/execution.ts'
import type { PrimaryStatus } from './replication-status.ts'

/** Recent positions of the primary by our own monotonic clock: the age of a replica needs no other machine's clock. */
export interface History {
  /** @param at when the question was sent, in milliseconds: earlier commits lie before the position */
  readonly add: (at: number, status: PrimaryStatus) => void
  /** The last report of the primary; null: none yet. */
  readonly newest: () => PrimaryStatus | null
  /** When the question of the last report was sent. */
  readonly newestAt: () => number
  /** The time whose commits a replica has that has replayed to this position; -Infinity: not recently. */
  readonly freshAt: (replayed: bigint) => number
  /** True if a replica on the primary's timeline that has replayed so far has all commits before a position. */
  readonly contains: (replayed: bigint, position: Position) => boolean
}

/** @param longestMs the maximum age of a replica: older entries are dropped */
export function createHistory(longestMs: number): History {
  let samples: readonly { readonly at: number; readonly lsn: bigint }[] = []
  let newest: PrimaryStatus | null = null
  /** On the current timeline; everything that survived of the previous one lies before it. */
  let firstLsn = 0n
  return {
    add: (at, status) => {
      const { timeline, lsn } = status.position
      if (timeline !== newest?.position.timeline) {
        firstLsn = lsn
        samples = []
      }
      newest = status
      samples = [...samples.filter((sample) => at - sample.at <= longestMs), { at, lsn }]
    },
    newest: () => newest,
    newestAt: () => samples.at(-1)?.at ?? Number.NEGATIVE_INFINITY,
    freshAt: (replayed) => samples.findLast(({ lsn }) => lsn <= replayed)?.at ?? Number.NEGATIVE_INFINITY,
    contains: (replayed, position) => {
      if (newest === null || position.timeline > newest.position.timeline) return false
      const isOlder = position.timeline < newest.position.timeline
      return replayed >= position.lsn || (isOlder && replayed >= firstLsn)
    },
  }
}
