import { laterPosition, type NotedWrite, type Position } from '../../contract/position.ts'

/**
 * Where each caller's last write lies, so that anyone who sends no position of their own reads what they wrote all the same. What
 * this process does not know of somebody holds for everybody.
 */
export interface Writes {
  /** Where the position is not known, it lies before the next one that the primary tells of. */
  readonly note: (write: NotedWrite, now: number) => void
  /** What a caller has to see; 'unknown': the primary alone has it for sure, null: nothing in particular. */
  readonly of: (party: string) => Position | 'unknown' | null
  /** @param at when the primary was asked for the position */
  readonly seen: (at: number, position: Position) => void
}

/** Callers whose last write is known apart. */
const mostParties = 10_000

/** @param now when this process began to hear of the writes of others: what was before is not known */
export function createWrites(now: number): Writes {
  const parties = new Map<string, Position>()
  let everybody: Position | null = null
  let unknownSince: number | null = now
  const noteAll = (position: Position): void => {
    everybody = laterPosition(everybody, position)
    parties.clear()
  }
  return {
    note: ({ party, position }, at) => {
      if (position === null) unknownSince = at
      else if (party === null || (parties.size >= mostParties && !parties.has(party))) noteAll(position)
      else parties.set(party, position)
    },
    of: (party) => (unknownSince === null ? laterPosition(everybody, parties.get(party) ?? null) : 'unknown'),
    seen: (at, position) => {
      if (unknownSince === null || at < unknownSince) return
      unknownSince = null
      noteAll(position)
    },
  }
}
