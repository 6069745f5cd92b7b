import { laterPosition, type NotedWrite, type Position } from '../../contract/execution.ts'

/**
 * The position of each caller's last write, so that clients which send no position read their own writes. Positions of
 * unknown origin hold for every caller.
 */
export interface Writes {
  /** If the position is unknown, it lies before the next one that the primary reports; until then its party needs the primary. */
  readonly note: (write: NotedWrite, now: number) => void
  /** The position that a caller must see; 'unknown': only the primary surely has it; null: no requirement. */
  readonly of: (party: string) => Position | 'unknown' | null
  /** @param at when the primary was asked for the position */
  readonly seen: (at: number, position: Position) => void
}

/** The number of callers whose last write is known individually. */
const mostParties = 10_000

/** @param now when this process began to receive the writes of its siblings: earlier ones are unknown */
export function createWrites(now: number): Writes {
  const parties = new Map<string, Position>()
  /** By party: since when the position of its last write is unknown. */
  const unknown = new Map<string, number>()
  let everybody: Position | null = null
  let unknownSince: number | null = now
  const noteAll = (position: Position): void => {
    everybody = laterPosition(everybody, position)
    parties.clear()
  }
  const hasRoom = (known: ReadonlyMap<string, unknown>, party: string): boolean =>
    known.size < mostParties || known.has(party)
  return {
    note: ({ party, position }, at) => {
      if (position === null && party !== null && hasRoom(unknown, party)) unknown.set(party, at)
      else if (position === null) unknownSince = at
      else if (party === null || !hasRoom(parties, party)) noteAll(position)
      else parties.set(party, position)
    },
    of: (party) =>
      unknownSince === null && !unknown.has(party) ? laterPosition(everybody, parties.get(party) ?? null) : 'unknown',
    seen: (at, position) => {
      for (const [party, since] of unknown) {
        if (at < since) continue
        unknown.delete(party)
        if (hasRoom(parties, party)) parties.set(party, position)
        else noteAll(position)
      }
      if (unknownSince === null || at < unknownSince) return
      unknownSince = null
      noteAll(position)
    },
  }
}
