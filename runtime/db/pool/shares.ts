import type { RequestContext } from '../../contract/execution.ts'

/**
 * How connections are shared, so that nobody can hold all of them: a party (a signed-in user, or the address of a
 * stranger) holds all but two at most, strangers together all but one. The service_role key has some beyond the others'.
 */
export interface Shares {
  /** Connections that are open at most. */
  readonly max: number
  readonly mayTake: (context: RequestContext | undefined) => boolean
  readonly take: (context: RequestContext | undefined) => void
  readonly giveBack: (context: RequestContext | undefined) => void
  /** Connections that a party holds. */
  readonly heldBy: (party: string) => number
}

/** Below this there is too little to share: everybody may hold everything. */
export const smallestShared = 4

/** What only service_role and our own statements may take. */
const reserved = 2

const leftByParty = 2
const leftByStrangers = 1

/** For a pool of one user: everything may be taken. */
export const unshared = (size: number): Shares => {
  const open = () => true
  const nothing = () => undefined
  return { max: size, mayTake: open, take: nothing, giveBack: nothing, heldBy: () => 0 }
}

export const createShares = (size: number): Shares => {
  if (size < smallestShared) return unshared(size)
  const held = new Map<string, number>()
  const heldBy = (party: string): number => held.get(party) ?? 0
  let strangers = 0
  let everybody = 0
  const count = ({ party, kind }: RequestContext, by: 1 | -1): void => {
    const now = heldBy(party) + by
    if (now === 0) held.delete(party)
    else held.set(party, now)
    if (kind === 'stranger') strangers += by
    if (kind !== 'service') everybody += by
  }
  return {
    max: size + reserved,
    mayTake: (context) => {
      if (context === undefined) return true
      const { party, kind } = context
      if (kind === 'service') return heldBy(party) < size
      if (everybody >= size || heldBy(party) >= size - leftByParty) return false
      return kind === 'member' || strangers < size - leftByStrangers
    },
    take: (context) => {
      if (context !== undefined) count(context, 1)
    },
    giveBack: (context) => {
      if (context !== undefined) count(context, -1)
    },
    heldBy,
  }
}
