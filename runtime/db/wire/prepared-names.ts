import type { PreparedText } from '../../contract/execution.ts'

/**
 * The statements that one connection has prepared. The memory of the backend for each grows with its text: 25 to 130 kB
 * for common ones (engine.md 2), hence a limit on the texts' weight.
 */
export interface PreparedNames {
  readonly add: (statement: PreparedText) => void
  /** Whether a statement is prepared; it is about to be used. */
  readonly use: (name: string) => boolean
  /**
   * Receives names whose preparation failed. PgBouncer registers a name when it sees it coming, and ends a connection
   * that prepares it again before it is closed.
   */
  readonly doubt: (names: readonly string[]) => void
  /**
   * Removes and returns the names to close first: names in doubt, and the oldest, so that statements of the weight
   * `incoming` fit in; never one of `needed`, and those used since the last eviction only after all others.
   */
  readonly evict: (incoming: number, needed: ReadonlySet<string>) => readonly string[]
}

/** The weight limit of one connection: some 200 statements of common length. */
export const maxWeight = 1_000_000

/** In characters; a short statement has fixed costs. */
export const weightOf = ({ text }: PreparedText): number => Math.max(text.length, 5_000)

export const createPreparedNames = (): PreparedNames => {
  // A Map iterates in order of insertion; lib/caches.ts explains the marks. That cache protects no entries and reports no
  // evictions.
  const names = new Map<string, { readonly weight: number; used: boolean }>()
  const doubted = new Set<string>()
  let total = 0
  const remove = (name: string): void => {
    total -= names.get(name)?.weight ?? 0
    names.delete(name)
  }
  const put = (name: string, weight: number): void => {
    remove(name)
    names.set(name, { weight, used: false })
    total += weight
  }
  const evict: PreparedNames['evict'] = (incoming, needed) => {
    const evicted = [...doubted]
    doubted.clear()
    for (const [name, { weight, used }] of names) {
      if (total + incoming <= maxWeight) break
      if (needed.has(name)) continue
      if (used) put(name, weight)
      else {
        remove(name)
        evicted.push(name)
      }
    }
    return evicted
  }
  return {
    add: (statement) => put(statement.name, weightOf(statement)),
    use: (name) => {
      const found = names.get(name)
      if (found !== undefined) found.used = true
      return found !== undefined
    },
    doubt: (names) => names.forEach((name) => doubted.add(name)),
    evict,
  }
}
