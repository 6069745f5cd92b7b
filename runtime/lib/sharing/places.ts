import { addToCount } from '../byte-budget.ts'
import { createLru } from '../caches.ts'

/** Strangers are anon and guests, members have signed in, service holds the service_role key. */
export type PartyKind = 'stranger' | 'member' | 'service'

export interface Sharer {
  /** A user's id or a client's address. */
  readonly party: string
  readonly kind: PartyKind
  /** The key of the work whose speed counts; absent: all work of the party. */
  readonly work?: string
  /** True once the caller has left. */
  readonly aborted?: boolean
}

/** The speed of work; unknown for new work. */
type Pace = 'quick' | 'unknown' | 'slow'

/** Work that is admitted by the same rules. */
export interface WorkClass {
  readonly kind: PartyKind
  readonly pace: Pace
}

/** A place that work has taken. */
export interface Lease {
  readonly sharer: Sharer | undefined
  readonly pace: Pace
  /** Infinity: it is never slow. */
  readonly since: number
}

/**
 * Places for work, and the rules by which parties share them (docs/sharing.md). Work without a sharer is our own: only the
 * number of all places limits it.
 */
export interface Places {
  /** All places, including those beyond the callers'. */
  readonly max: number
  readonly classOf: (sharer: Sharer | undefined) => WorkClass | null
  readonly hasFree: () => boolean
  /** Whether work of a class may take a free place; null: our own work. */
  readonly admits: (workClass: WorkClass | null) => boolean
  /** Whether a party has taken all places that it may have for work of a class. */
  readonly isFull: (sharer: Sharer | undefined, workClass: WorkClass | null) => boolean
  readonly mayTake: (sharer: Sharer | undefined) => boolean
  readonly take: (sharer: Sharer | undefined) => Lease
  /** Once for each lease. @param ms the milliseconds that count for the pace of the work; absent: all */
  readonly release: (lease: Lease, ms?: number) => void
  /** A party has a place less, which others may have, until the result is called. */
  readonly rest: (party: string) => () => void
  /** Places that a party has taken, and those that it has less. */
  readonly heldBy: (party: string) => number
  /** Whether work turned slow while older slow work has all places that slow work may have. */
  readonly isOver: (lease: Lease) => boolean
  /** The listener is called when the pace of a sharer's work has changed. */
  readonly onPace: (listener: (sharer: Sharer) => void) => void
  /** Milliseconds after which refused work may be admitted although no place was returned. */
  readonly recheckMs: number
}

export interface Speed {
  /** Work that holds a place for longer is slow, also while it still holds it. In milliseconds. */
  readonly slowMs: number
  /** Quick work earns one credit, at most so many. */
  readonly mostCredit: number
  /** The credit of quick work; as much debt is the most. */
  readonly quickFrom: number
  /** The cost of work that was slow, or whose caller left. */
  readonly price: number
  /** For so many milliseconds after quick work places are kept for more of it; Infinity: always. */
  readonly keptMs: number
}

export interface PlacesOptions {
  /** The places of callers. */
  readonly size: number
  /** Further places, which `service` and our own work may take. */
  readonly beyond?: number
  /** Absent: all work counts as quick. */
  readonly speed?: Speed
}

/** Parties that hold nothing and have an entry: theirs need not be created again with their next request. */
const mostRemembered = 100

/** How often it is checked whether the places that are kept for quick work are still wanted. */
const recheckMs = 250

/** Work for which a pace is remembered; beyond this the oldest begins again. */
const mostPaces = 20_000

/** The most that callers of one kind hold together; each at least one. A party never has all places of a kind of work. */
const limitsOf = (size: number, isTimed: boolean) => {
  const slow = Math.max(1, Math.min(Math.floor(size / 2), size - 3))
  return {
    party: Math.max(1, size - (isTimed ? 3 : 2)),
    strangers: Math.max(1, size - 1),
    unquick: Math.max(1, Math.min(2, size - 1), size - 2),
    slow,
    slowOfParty: Math.max(1, slow - 1),
  }
}

interface HeldCounts {
  readonly kinds: Readonly<Record<PartyKind, number>>
  readonly heldBy: (party: string) => number
  readonly count: (sharer: Sharer, by: 1 | -1) => void
  readonly resting: { readonly count: number }
  /** A party has one more until the result is called. */
  readonly hold: (party: string) => () => void
}

function createHeldCounts(): HeldCounts {
  const parties = new Map<string, number>()
  const kinds = { stranger: 0, member: 0, service: 0 }
  const resting = { count: 0 }
  return {
    kinds,
    resting,
    heldBy: (party) => parties.get(party) ?? 0,
    count: ({ party, kind }, by) => {
      const sum = (parties.get(party) ?? 0) + by
      if (sum === 0 && parties.size > mostRemembered) parties.delete(party)
      else parties.set(party, sum)
      kinds[kind] += by
    },
    hold: (party) => {
      const add = (by: 1 | -1): void => {
        addToCount(parties, party, by)
        resting.count += by
      }
      add(1)
      return () => add(-1)
    },
  }
}

/** Work that began before `slowSince` is slow. */
function countHeld(leases: readonly Lease[], slowSince: number): { readonly slow: number; readonly unquick: number } {
  const isSlow = ({ pace, since }: Lease): boolean => pace === 'slow' || since < slowSince
  const slow = leases.filter(isSlow).length
  return { slow, unquick: leases.filter((lease) => lease.pace !== 'quick' || isSlow(lease)).length }
}

/** @param now the monotonic clock, in milliseconds */
export function createPlaces(
  { size, beyond = 0, speed }: PlacesOptions,
  now: () => number = performance.now.bind(performance),
): Places {
  const [max, most] = [size + beyond, limitsOf(size, speed !== undefined)]
  const paces = speed === undefined ? null : createPaces(speed, now)
  const slowMs = speed?.slowMs ?? Infinity
  const { kinds, resting, heldBy, count, hold: rest } = createHeldCounts()
  /** Without order. */
  const held: Lease[] = []
  /** Only then places are counted, so that a request costs no timer. */
  const isShort = (pace: Pace): boolean =>
    pace !== 'quick' && held.length + 1 >= most.slow && paces?.isWanted() === true
  const classOf: Places['classOf'] = (sharer) => {
    if (sharer === undefined) return null
    const { party, kind, work = party } = sharer
    return classes[kind][paces === null || kind === 'service' ? 'quick' : paces.of(work)]
  }
  const admits: Places['admits'] = (workClass) => {
    if (workClass === null || workClass.kind === 'service') return true
    if (kinds.stranger + kinds.member >= size) return false
    if (workClass.kind === 'stranger' && kinds.stranger >= most.strangers) return false
    if (!isShort(workClass.pace)) return true
    const { slow, unquick } = countHeld(held, now() - slowMs)
    return unquick < most.unquick && (workClass.pace !== 'slow' || slow < most.slow)
  }
  const isFull: Places['isFull'] = (sharer, workClass) => {
    const ofParty = sharer === undefined ? 0 : heldBy(sharer.party)
    if (sharer === undefined || workClass === null || ofParty === 0) return false
    if (ofParty >= (sharer.kind === 'service' ? size : most.party)) return true
    if (workClass.pace !== 'slow' || !isShort('slow')) return false
    const ofSharer = held.filter((lease) => lease.sharer?.party === sharer.party)
    return countHeld(ofSharer, now() - slowMs).slow >= most.slowOfParty
  }
  return {
    max,
    classOf,
    hasFree: () => held.length < max,
    admits,
    isFull,
    mayTake: (sharer) => {
      if (held.length === 0 && resting.count === 0) return true
      if (held.length >= max) return false
      const workClass = classOf(sharer)
      return !isFull(sharer, workClass) && admits(workClass)
    },
    take: (sharer) => {
      const isTimed = sharer !== undefined && sharer.kind !== 'service' && paces !== null
      const pace = (isTimed && classOf(sharer)?.pace) || 'quick'
      const lease: Lease = { sharer, pace, since: isTimed ? now() : Infinity }
      held.push(lease)
      if (sharer !== undefined) count(sharer, 1)
      return lease
    },
    release: (lease, ms) => {
      const { sharer, since } = lease
      const last = held.pop()
      if (last !== undefined && last !== lease) held[held.indexOf(lease)] = last
      if (sharer === undefined) return
      count(sharer, -1)
      if (since !== Infinity) paces?.note(sharer, ms ?? now() - since)
    },
    rest,
    heldBy,
    isOver: (lease) => {
      const { pace, since } = lease
      if (pace === 'slow' || since >= now() - slowMs || paces?.isWanted() !== true) return false
      return held.filter((one) => one.pace === 'slow' || one.since < since).length >= most.slow
    },
    onPace: (listener) => paces?.listen(listener),
    recheckMs,
  }
}

const classesOf = (kind: PartyKind): Readonly<Record<Pace, WorkClass>> => ({
  quick: { kind, pace: 'quick' },
  unknown: { kind, pace: 'unknown' },
  slow: { kind, pace: 'slow' },
})

const classes: Readonly<Record<PartyKind, Readonly<Record<Pace, WorkClass>>>> = {
  stranger: classesOf('stranger'),
  member: classesOf('member'),
  service: classesOf('service'),
}

/**
 * The work that is quick and the work that is slow, by credits. New work is neither: an attacker has as many addresses
 * as it likes, and an honest newcomer does not wait behind work that is known to be slow.
 */
interface Paces {
  readonly of: (key: string) => Pace
  /** Receives how long a place was held, in milliseconds. */
  readonly note: (sharer: Sharer, ms: number) => void
  /** Whether work was quick recently. */
  readonly isWanted: () => boolean
  readonly listen: (listener: (sharer: Sharer) => void) => void
}

function createPaces({ slowMs, mostCredit, quickFrom, price, keptMs }: Speed, now: () => number): Paces {
  const credits = createLru<string, number>(mostPaces)
  let lastQuickAt = -Infinity
  let changed: (sharer: Sharer) => void = () => undefined
  const paceOf = (key: string): Pace => {
    const credit = credits.get(key) ?? 0
    return credit >= quickFrom ? 'quick' : credit < 0 ? 'slow' : 'unknown'
  }
  return {
    of: paceOf,
    note: (sharer, ms) => {
      const { party, work = party, aborted } = sharer
      const isQuick = ms <= slowMs && aborted !== true
      if (isQuick) lastQuickAt = now()
      const before = credits.get(work) ?? 0
      const after = isQuick ? Math.min(mostCredit, before + 1) : Math.max(-quickFrom, before - price)
      if (after === before) return
      const pace = paceOf(work)
      credits.set(work, after)
      if (paceOf(work) !== pace) changed(sharer)
    },
    isWanted: () => keptMs === Infinity || now() - lastQuickAt < keptMs,
    listen: (listener) => {
      changed = listener
    },
  }
}
