import { addToCount } from '../byte-budget.ts'
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

/** By class and party, in the order of their turns; the work of each party in the order of arrival. */
type Queues<T> = Map<WorkClass | null, Map<string, Set<T>>>

export function createFairQueue<T extends WaitingWork>(
  places: Places,
  { each, all }: QueueLimits = unlimited,
): FairQueue<T> {
  const classes: Queues<T> = new Map()
  const parties = new Map<string, number>()
  const waiting = { count: 0, strangers: 0 }
  const count = (one: T, by: 1 | -1): void => {
    waiting.count += by
    if (one.sharer?.kind === 'stranger') waiting.strangers += by
    addToCount(parties, partyOfWork(one), by)
  }
  const remove = (one: T): void => {
    if (removeWork(classes, one)) count(one, -1)
  }
  places.onPace(({ party, work }) => {
    if (work !== undefined) return
    const waited = [...classes.values()].flatMap((queues) => [...(queues.get(party) ?? [])])
    for (const one of waited) if (removeWork(classes, one)) insertWork(classes, places.classOf(one.sharer), one)
  })
  return {
    add: (one) => {
      const most = one.sharer?.kind === 'stranger' ? Math.max(1, all - each) : Infinity
      const ofParty = parties.get(partyOfWork(one)) ?? 0
      if (waiting.count >= all || waiting.strangers >= most || ofParty >= each) return false
      count(one, 1)
      insertWork(classes, places.classOf(one.sharer), one)
      return true
    },
    remove,
    next: () => {
      const best = places.hasFree() ? fewestHeld(classes, places) : null
      if (best !== null) remove(best)
      return best
    },
    all: () => [...classes.values()].flatMap((queues) => [...queues.values()].flatMap((queue) => [...queue])),
    waiting,
  }
}

function insertWork<T extends WaitingWork>(classes: Queues<T>, workClass: WorkClass | null, one: T): void {
  const queues = classes.get(workClass) ?? new Map<string, Set<T>>()
  const queue = queues.get(partyOfWork(one)) ?? new Set()
  classes.set(workClass, queues.set(partyOfWork(one), queue.add(one)))
}

/** The rest of its party and class waits behind all others. */
function removeWork<T extends WaitingWork>(classes: Queues<T>, one: T): boolean {
  const party = partyOfWork(one)
  for (const [workClass, queues] of classes) {
    const queue = queues.get(party)
    if (queue?.delete(one) !== true) continue
    queues.delete(party)
    classes.delete(workClass)
    if (queue.size > 0) queues.set(party, queue)
    if (queues.size > 0) classes.set(workClass, queues)
    return true
  }
  return false
}

function fewestHeld<T extends WaitingWork>(classes: Queues<T>, places: Places): T | null {
  let best: T | null = null
  let fewest = Infinity
  for (const [workClass, queues] of classes) {
    if (!places.admits(workClass)) continue
    for (const [party, [one]] of queues) {
      const held = places.heldBy(party)
      if (one === undefined || held >= fewest || places.isFull(one.sharer)) continue
      best = one
      fewest = held
      // Thousands of parties may wait, and few of them hold a place.
      if (held === 0) return best
    }
  }
  return best
}
