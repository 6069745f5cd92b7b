/**
 * A position in a database's history of changes: a timeline, which a promoted replica increments, and a byte of the log
 * (PostgreSQL manual 26.3.5 and 9.27.3). Every server that has replayed as far has all earlier commits.
 */
export interface Position {
  readonly timeline: number
  readonly lsn: bigint
}

/** A write, as processes with the same callers report it to each other. */
export interface NotedWrite {
  /** The party that must see it; null: all. */
  readonly party: string | null
  /** Null: unknown. */
  readonly position: Position | null
}

/** The header of requests and answers with a position. */
export const positionHeader = 'catalograph-position'

/** Timeline and log position as Postgres writes them, such as 1/0/16B3748. */
export function positionText({ timeline, lsn }: Position): string {
  return `${timeline}/${(lsn >> 32n).toString(16)}/${(lsn & 0xffff_ffffn).toString(16)}`.toUpperCase()
}

const pattern = /^(\d{1,9})\/([0-9A-F]{1,8})\/([0-9A-F]{1,8})$/i

/** Null if it is not a position. */
export function readPosition(text: unknown): Position | null {
  if (typeof text !== 'string') return null
  const [, timeline, high, low] = pattern.exec(text) ?? []
  if (timeline === undefined) return null
  return { timeline: Number(timeline), lsn: (BigInt(`0x${high}`) << 32n) | BigInt(`0x${low}`) }
}

/** The later of two; positions of a newer timeline are later. */
export function laterPosition(one: Position | null, other: Position | null): Position | null {
  if (one === null || other === null) return one ?? other
  if (one.timeline !== other.timeline) return one.timeline > other.timeline ? one : other
  return one.lsn > other.lsn ? one : other
}
