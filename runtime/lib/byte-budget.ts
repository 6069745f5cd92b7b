import { createDeadlines } from './timers.ts'

/** A party whose bytes are counted; strangers are also counted together. */
export interface ByteOwner {
  readonly party: string
  readonly kind?: 'stranger' | 'member' | 'service'
}

/**
 * Memory that parties share: each party's holdings are counted and limited, and strangers together leave the share of one
 * party. Only large objects count.
 */
export interface ByteBudget {
  readonly open: (owner: ByteOwner) => Holding
  /** Whether a party could take this many more bytes. */
  readonly hasRoom: (owner: ByteOwner, bytes: number) => boolean
  /** Waits for that without taking them; false after the given milliseconds. */
  readonly room: (owner: ByteOwner, bytes: number, ms: number) => Promise<boolean>
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

/** The bytes that parties hold, and their limits. */
function createByteCounts({ bytes: most, share }: BudgetSize) {
  const parties = new Map<string, number>()
  const usage = { bytes: 0 }
  const mostOfStrangers = Math.max(share, most - share)
  let ofStrangers = 0
  return {
    usage,
    hasRoom: ({ party, kind }: ByteOwner, bytes: number): boolean =>
      usage.bytes + bytes <= most &&
      (parties.get(party) ?? 0) + bytes <= share &&
      (kind !== 'stranger' || ofStrangers + bytes <= mostOfStrangers),
    add: ({ party, kind }: ByteOwner, bytes: number): void => {
      usage.bytes += bytes
      if (kind === 'stranger') ofStrangers += bytes
      addToCount(parties, party, bytes)
    },
  }
}

export function createByteBudget(size: BudgetSize): ByteBudget {
  const { usage, hasRoom, add } = createByteCounts(size)
  /** In the order of arrival; if one finds no room, later ones may try. */
  const waiting = new Set<Waiting>()
  const setDeadline = createDeadlines(lookEveryMs)
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

  const open = (owner: ByteOwner): Holding => {
    let held = 0
    let stopWaiting: (() => void) | null = null
    const force = (bytes: number): void => {
      held += bytes
      add(owner, bytes)
    }
    const take = (bytes: number): boolean => {
      if (!hasRoom(owner, bytes)) return false
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
        add(owner, -held)
        held = 0
        letIn()
      },
    }
  }
  return {
    open,
    hasRoom,
    room: (owner, bytes, ms) =>
      new Promise((resolve) => {
        if (hasRoom(owner, bytes)) resolve(true)
        else waitFor(() => hasRoom(owner, bytes), ms, resolve)
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
