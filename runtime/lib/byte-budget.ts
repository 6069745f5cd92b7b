import { createDeadlines } from './deadlines.ts'

/**
 * Memory that many parties share: what each of them holds is counted, and none gets more than its share. Only what is large is
 * worth counting.
 */
export interface ByteBudget {
  /** What somebody of a party holds: nothing yet. */
  readonly open: (party: string) => Holding
  /** Whether so many bytes more of a party would find room. */
  readonly hasRoom: (party: string, bytes: number) => boolean
  /** Waits until they would, without taking them; false when they do not within so many milliseconds. */
  readonly room: (party: string, bytes: number, ms: number) => Promise<boolean>
  /** Whether somebody waits. */
  readonly isWanted: () => boolean
  /** Bytes that are held in all, at this moment. */
  readonly usage: { readonly bytes: number }
}

export interface Holding {
  /** Takes so many bytes more; false, and none are taken, where there is no room. */
  readonly take: (bytes: number) => boolean
  /** Takes them, room or not: for what is there already. */
  readonly force: (bytes: number) => void
  /** Tells once whether they were taken: as soon as there is room, or not at all within so many milliseconds. */
  readonly wait: (bytes: number, ms: number, told: (taken: boolean) => void) => void
  /** Gives everything back and waits for nothing more. */
  readonly release: () => void
}

export interface BudgetSize {
  readonly bytes: number
  /** What one party may hold of them. */
  readonly share: number
}

/** How much later than it says a waiting may end. */
const lookEveryMs = 50

/** Tries to have what it waits for; true when it does. */
type Waiting = () => boolean

export function createByteBudget({ bytes: most, share }: BudgetSize): ByteBudget {
  const parties = new Map<string, number>()
  /** In the order of their coming; one that finds no room lets those behind it try. */
  const waiting = new Set<Waiting>()
  const setDeadline = createDeadlines(lookEveryMs)
  const usage = { bytes: 0 }

  const hasRoom = (party: string, bytes: number): boolean =>
    usage.bytes + bytes <= most && (parties.get(party) ?? 0) + bytes <= share
  const add = (party: string, bytes: number): void => {
    usage.bytes += bytes
    const held = (parties.get(party) ?? 0) + bytes
    if (held === 0) parties.delete(party)
    else parties.set(party, held)
  }
  const letIn = (): void => {
    for (const attempt of waiting) if (attempt()) waiting.delete(attempt)
  }
  /** Gives what ends the waiting, untold. */
  const waitFor = (attempt: () => boolean, ms: number, told: (had: boolean) => void): (() => void) => {
    const entry: Waiting = () => {
      if (!attempt()) return false
      forget()
      told(true)
      return true
    }
    const forget = setDeadline(ms, () => {
      waiting.delete(entry)
      told(false)
    })
    waiting.add(entry)
    return () => {
      waiting.delete(entry)
      forget()
    }
  }

  const open = (party: string): Holding => {
    let held = 0
    let stopWaiting: (() => void) | null = null
    const force = (bytes: number): void => {
      held += bytes
      add(party, bytes)
    }
    const take = (bytes: number): boolean => {
      if (!hasRoom(party, bytes)) return false
      force(bytes)
      return true
    }
    return {
      take,
      force,
      wait: (bytes, ms, told) => {
        stopWaiting = waitFor(() => take(bytes), ms, told)
      },
      release: () => {
        stopWaiting?.()
        if (held === 0) return
        add(party, -held)
        held = 0
        letIn()
      },
    }
  }
  return {
    open,
    hasRoom,
    room: (party, bytes, ms) =>
      new Promise((resolve) => {
        if (hasRoom(party, bytes)) resolve(true)
        else waitFor(() => hasRoom(party, bytes), ms, resolve)
      }),
    isWanted: () => waiting.size > 0,
    usage,
  }
}
