import { createDeadlines } from './timers.ts'

/** Memory that parties share: each party's holdings are counted and limited. Only large objects count. */
export interface ByteBudget {
  readonly open: (party: string) => Holding
  /** Whether a party could take this many more bytes. */
  readonly hasRoom: (party: string, bytes: number) => boolean
  /** Waits for that without taking them; false after the given milliseconds. */
  readonly room: (party: string, bytes: number, ms: number) => Promise<boolean>
  /** Whether a request waits. */
  readonly isWanted: () => boolean
  /** The bytes that are held in total. */
  readonly usage: { readonly bytes: number }
}

export interface Holding {
  /** Takes this many more bytes; false, and takes none, if there is no room. */
  readonly take: (bytes: number) => boolean
  /** Takes them even without room: for existing data. */
  readonly force: (bytes: number) => void
  /** Calls back once with whether they were taken: as soon as there is room, or not within the given milliseconds. */
  readonly wait: (bytes: number, ms: number, decided: (taken: boolean) => void) => void
  /** Gives everything back and stops waiting. */
  readonly release: () => void
}

export interface BudgetSize {
  readonly bytes: number
  /** The maximum of one party. */
  readonly share: number
}

/** The maximum delay of a time limit. */
const lookEveryMs = 50

/** Tries to take what it waits for; true on success. */
type Waiting = () => boolean

export function createByteBudget({ bytes: most, share }: BudgetSize): ByteBudget {
  const parties = new Map<string, number>()
  /** In the order of arrival; if one finds no room, later ones may try. */
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
  /** Returns a function that cancels the wait without a call. */
  const waitFor = (attempt: () => boolean, ms: number, decided: (had: boolean) => void): (() => void) => {
    const entry: Waiting = () => {
      if (!attempt()) return false
      forget()
      decided(true)
      return true
    }
    const forget = setDeadline(ms, () => {
      waiting.delete(entry)
      decided(false)
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
      wait: (bytes, ms, decided) => {
        stopWaiting = waitFor(() => take(bytes), ms, decided)
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

/** Adds to the count of a key, and returns it; a count of zero has no entry. */
export function addToCount(counts: Map<string, number>, key: string, change: number): number {
  const now = (counts.get(key) ?? 0) + change
  if (now === 0) counts.delete(key)
  else counts.set(key, now)
  return now
}
