/**
 * The statements that one connection has prepared, the one used longest ago first.
 * Each costs its backend 25 to 130 kB, hence a cap (engine-room 2.3).
 */
export interface PreparedNames {
  readonly has: (name: string) => boolean
  readonly add: (name: string) => void
  /** Marks a name as used just now. */
  readonly touch: (name: string) => void
  /** Takes out and returns the oldest names, none of `needed`, so that `incoming` more fit under the cap. */
  readonly evict: (incoming: number, needed: ReadonlySet<string>) => readonly string[]
}

export const createPreparedNames = (cap: number): PreparedNames => {
  const names = new Set<string>()
  const evict: PreparedNames['evict'] = (incoming, needed) => {
    const excess = names.size + incoming - cap
    if (excess <= 0) return []
    const oldest = [...names].filter((name) => !needed.has(name)).slice(0, excess)
    for (const name of oldest) names.delete(name)
    return oldest
  }
  const touch = (name: string): void => {
    names.delete(name)
    names.add(name)
  }
  return { has: (name) => names.has(name), add: (name) => void names.add(name), touch, evict }
}
