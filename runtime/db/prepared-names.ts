import type { PreparedText } from '../contract/execution.ts'

/**
 * The statements that one connection has prepared, the one used longest ago first. What each costs its backend grows with its
 * text: 25 to 130 kB for common ones (engine-room 2.3), hence a bound on the texts' weight.
 */
export interface PreparedNames {
  readonly has: (name: string) => boolean
  readonly add: (statement: PreparedText) => void
  /** Marks a name as used just now. */
  readonly touch: (name: string) => void
  /** Takes out and returns the oldest names, none of `needed`, so that statements of the weight `incoming` fit in. */
  readonly evict: (incoming: number, needed: ReadonlySet<string>) => readonly string[]
}

/** What one connection may hold: some 200 statements of common length. */
export const maxWeight = 1_000_000

/** In characters; a short statement has its fixed costs. */
export const weightOf = ({ text }: PreparedText): number => Math.max(text.length, 5_000)

export const createPreparedNames = (): PreparedNames => {
  const weights = new Map<string, number>()
  let total = 0
  const remove = (name: string): void => {
    total -= weights.get(name) ?? 0
    weights.delete(name)
  }
  const put = (name: string, weight: number): void => {
    remove(name)
    weights.set(name, weight)
    total += weight
  }
  const evict: PreparedNames['evict'] = (incoming, needed) => {
    const evicted: string[] = []
    for (const name of weights.keys()) {
      if (total + incoming <= maxWeight) break
      if (needed.has(name)) continue
      remove(name)
      evicted.push(name)
    }
    return evicted
  }
  return {
    has: (name) => weights.has(name),
    add: (statement) => put(statement.name, weightOf(statement)),
    touch: (name) => put(name, weights.get(name) ?? 0),
    evict,
  }
}
