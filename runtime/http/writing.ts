import type { Socket } from 'node:net'

export interface Writing {
  /** When it was first seen, on the monotonic clock in milliseconds, and what had been read by then. */
  readonly since: number
  readonly before: number
  /** When progress was last seen, and the total at that time. */
  readonly movedAt: number
  readonly taken: number
}

export interface WritePace {
  /** Milliseconds within which some progress is required, and after which the rate counts. */
  readonly withinMs: number
  /** Bytes per second. */
  readonly slowest: number
}

type Waiting = Pick<Socket, 'bytesWritten' | 'writableLength'>

/** The progress of a connection's answer at this time; null: everything was read. */
export function measureWriting(
  { bytesWritten, writableLength }: Waiting,
  before: Writing | null,
  now: number,
): Writing | null {
  if (writableLength === 0) return null
  const taken = bytesWritten - writableLength
  if (before === null) return { since: now, before: taken, movedAt: now, taken }
  return taken > before.taken ? { ...before, movedAt: now, taken } : before
}

export function isTooSlow(
  { since, before, movedAt, taken }: Writing,
  { withinMs, slowest }: WritePace,
  now: number,
): boolean {
  if (now - movedAt >= withinMs) return true
  return now - since >= withinMs && (taken - before) * 1_000 < slowest * (now - since)
}
