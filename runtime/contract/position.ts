/**
 * A place in a database's history of changes: a timeline, which a promoted replica begins again, and a byte of the log (PostgreSQL
 * manual 26.3.5 and 9.27.3). What was committed before it is there on every server that has replayed as far.
 */
export interface Position {
  readonly timeline: number
  readonly lsn: bigint
}

/** A write, as those who answer the same callers tell each other of it. */
export interface NotedWrite {
  /** Who has to see it; null: everybody. */
  readonly party: string | null
  /** Null: it is not known. */
  readonly position: Position | null
}

/** The header of requests and answers that a position travels in. */
export const positionHeader = 'catalograph-position'

/** Timeline and log position as Postgres writes them, such as 1/0/16B3748. */
export function positionText({ timeline, lsn }: Position): string {
  return `${timeline}/${(lsn >> 32n).toString(16)}/${(lsn & 0xffff_ffffn).toString(16)}`.toUpperCase()
}

const pattern = /^(\d{1,9})\/([0-9A-F]{1,8})\/([0-9A-F]{1,8})$/i

/** Null for what is no position. */
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
