import type { Places, Sharer, WorkClass } from './places.ts'

export interface WaitingWork {
  readonly sharer: Sharer | undefined
}

/**
 * Work that waits for places. Of the parties that may have a place the one that holds the fewest is next; parties that
 * hold as many take turns, and so do strangers and members, quick and slow work.
 */
export interface FairQueue<T extends WaitingWork> {
  /** False: too many wait. */
  readonly add: (one: T) => boolean
  readonly remove: (one: T) => void
  /** The next one, which is removed; null: none may have a place. */
  readonly next: () => T | null
  readonly all: () => readonly T[]
  /** Whether more of a piece's party waits. */
  readonly waitsWith: (one: WaitingWork) => boolean
  readonly waiting: { readonly count: number }
}

export interface QueueLimits {
  /** The most that wait for one party. Strangers together leave as many to members. */
  readonly each: number
  readonly all: number
}

const unlimited: QueueLimits = { each: Number.MAX_SAFE_INTEGER / 2, all: Number.MAX_SAFE_INTEGER }

/** Our own work waits as one party. */
const ownParty = ''
const partyOfWork = ({ sharer }: WaitingWork): string => sharer?.party ?? ownParty

/** The waiting work of a class. */
interface ClassQueue<T> {
  readonly workClass: WorkClass | null
  /** In the order of their turns; the work of each in the order of arrival, and never empty. */
  readonly parties: Map<string, T[]>
  /** The number of the turn in which it was last served, or began to wait. */
  turn: number
}

/** One for each class: few, and kept while nothing waits in them. */
interface Queues<T> {
  readonly classes: ClassQueue<T>[]
  turn: number
}

export function createFairQueue<T extends WaitingWork>(
  places: Places,
  { each, all }: QueueLimits = unlimited,
): FairQueue<T> {
  const queues: Queues<T> = { classes: [], turn: 0 }
  const waiting = { count: 0, strangers: 0 }
  const count = ({ sharer }: T, by: 1 | -1): void => {
    waiting.count += by
    if (sharer?.kind === 'stranger') waiting.strangers += by
  }
  const remove = (one: T): void => {
    if (removeWork(queues, one)) count(one, -1)
  }
  places.onPace(({ party, work }) => {
    if (work !== undefined) return
    const waited = queues.classes.flatMap(({ parties }) => parties.get(party) ?? [])
    for (const one of waited) if (removeWork(queues, one)) insertWork(queues, places.classOf(one.sharer), one)
  })
  return {
    add: (one) => {
      const most = one.sharer?.kind === 'stranger' ? Math.max(1, all - each) : Infinity
      if (waiting.count >= all || waiting.strangers >= most || waitingOf(queues, one) >= each) return false
      count(one, 1)
      insertWork(queues, places.classOf(one.sharer), one)
      return true
    },
    remove,
    next: () => {
      const best = places.hasFree() ? fewestHeld(queues, places) : null
      if (best !== null) remove(best)
      return best
    },
    all: () => queues.classes.flatMap(({ parties }) => [...parties.values()].flat()),
    waitsWith: (one) => waitingOf(queues, one) > 0,
    waiting,
  }
}

/** How much work of the same party waits. */
function waitingOf<T extends WaitingWork>({ classes }: Queues<T>, one: T): number {
  const party = partyOfWork(one)
  return classes.reduce((sum, { parties }) => sum + (parties.get(party)?.length ?? 0), 0)
}

function insertWork<T extends WaitingWork>(queues: Queues<T>, workClass: WorkClass | null, one: T): void {
  const found = queues.classes.find((queue) => queue.workClass === workClass)
  const queue = found ?? { workClass, parties: new Map<string, T[]>(), turn: 0 }
  if (found === undefined) queues.classes.push(queue)
  const party = partyOfWork(one)
  const works = queue.parties.get(party)
  if (queue.parties.size === 0) queue.turn = queues.turn += 1
  if (works === undefined) queue.parties.set(party, [one])
  else works.push(one)
}

/** The rest of its party and class waits behind all others. */
function removeWork<T extends WaitingWork>(queues: Queues<T>, one: T): boolean {
  const party = partyOfWork(one)
  for (const queue of queues.classes) {
    const works = queue.parties.get(party)
    const at = works?.indexOf(one) ?? -1
    if (works === undefined || at === -1) continue
    works.splice(at, 1)
    queue.turn = queues.turn += 1
    if (works.length > 0 && queue.parties.size === 1) return true
    queue.parties.delete(party)
    if (works.length > 0) queue.parties.set(party, works)
    return true
  }
  return false
}

function fewestHeld<T extends WaitingWork>({ classes }: Queues<T>, places: Places): T | null {
  let best: T | null = null
  let fewest = Infinity
  classes.sort((a, b) => a.turn - b.turn)
  for (const { workClass, parties } of classes) {
    if (parties.size === 0 || !places.admits(workClass)) continue
    for (const [party, [one]] of parties) {
      const held = places.heldBy(party)
      if (one === undefined || held >= fewest || places.isFull(one.sharer, workClass)) continue
      best = one
      fewest = held
      // Thousands of parties may wait, and few of them hold a place.
      if (held === 0) return best
    }
  }
  return best
}
