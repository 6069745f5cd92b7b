import type { Position } from '../../contract/position.ts'
import type { PrimarySight } from './look.ts'

/** Where the primary lately was, by our own monotonic clock: how old a replica is needs no clock of another machine. */
export interface History {
  /** @param at when the question was sent, in milliseconds: what was committed before lies before the position */
  readonly add: (at: number, sight: PrimarySight) => void
  /** What the primary told last; null: nothing yet. */
  readonly newest: () => PrimarySight | null
  /** When it was last asked what it told. */
  readonly newestAt: () => number
  /** When everything that the primary had committed is known to be replayed by who replayed so far; -Infinity: not lately. */
  readonly freshAt: (replayed: bigint) => number
  /** Whether who follows the primary's timeline, and has replayed so far, has what was committed before a position. */
  readonly contains: (replayed: bigint, position: Position) => boolean
}

interface Sample {
  readonly at: number
  readonly lsn: bigint
}

/** @param longestMs how old a replica may be: what was before is of no use */
export function createHistory(longestMs: number): History {
  let samples: readonly Sample[] = []
  let newest: PrimarySight | null = null
  /** On the timeline of now; what survived of the one before lies before it. */
  let firstLsn = 0n
  return {
    add: (at, sight) => {
      const { timeline, lsn } = sight.position
      if (timeline !== newest?.position.timeline) {
        firstLsn = lsn
        samples = []
      }
      newest = sight
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
