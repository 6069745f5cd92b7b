import type { Socket } from 'node:net'

/** What is known of an answer that its reader has yet to take. */
export interface Writing {
  /** When it was first seen, on the monotonic clock in milliseconds, and what had been taken of the connection's answers by then. */
  readonly since: number
  readonly before: number
  /** When something of it was last seen to have been taken, and how much was in all. */
  readonly movedAt: number
  readonly taken: number
}

export interface WritePace {
  /** Milliseconds within which something has to be taken, and after which the rate counts. */
  readonly withinMs: number
  /** Bytes a second. */
  readonly slowest: number
}

type Waiting = Pick<Socket, 'bytesWritten' | 'writableLength'>

/** What is known of a connection's answer at this time; null: everything was taken. */
export function look({ bytesWritten, writableLength }: Waiting, before: Writing | null, now: number): Writing | null {
  if (writableLength === 0) return null
  const taken = bytesWritten - writableLength
  if (before === null) return { since: now, before: taken, movedAt: now, taken }
  return taken > before.taken ? { ...before, movedAt: now, taken } : before
}

/** Whether its reader takes too long. */
export function isTooSlow(
  { since, before, movedAt, taken }: Writing,
  { withinMs, slowest }: WritePace,
  now: number,
): boolean {
  if (now - movedAt >= withinMs) return true
  return now - since >= withinMs && (taken - before) * 1_000 < slowest * (now - since)
}
