import type { PreparedText } from '../../contract/execution.ts'

/**
 * The statements that one connection has prepared. What each costs its backend grows with its text: 25 to 130 kB for
 * common ones (engine.md 2), hence a bound on the texts' weight.
 */
export interface PreparedNames {
  readonly add: (statement: PreparedText) => void
  /** Whether a statement is prepared; it is about to be used. */
  readonly use: (name: string) => boolean
  /**
   * Told names that were to be prepared and are not. PgBouncer notes a name when it sees it coming, and ends the connection that
   * prepares it again before it is closed.
   */
  readonly doubt: (names: readonly string[]) => void
  /**
   * Takes out and returns what is to be closed first: names in doubt, and the oldest ones, so that statements of the weight
   * `incoming` fit in; none of `needed`, and those that were used since they were last looked at only after all others.
   */
  readonly evict: (incoming: number, needed: ReadonlySet<string>) => readonly string[]
}

/** What one connection may hold: some 200 statements of common length. */
export const maxWeight = 1_000_000

/** In characters; a short statement has its fixed costs. */
export const weightOf = ({ text }: PreparedText): number => Math.max(text.length, 5_000)

export const createPreparedNames = (): PreparedNames => {
  // A Map iterates in order of insertion; see lib/lru.ts for what the marks are about. There nothing is needed by what
  // makes room, and nobody has to be told what left.
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
