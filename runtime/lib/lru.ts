/** A bounded map that forgets what was not used for long. */
export interface Lru<K, V> {
  /** The value kept under the key, which thereby counts as used; undefined when there is none. */
  readonly get: (key: K) => V | undefined
  /** Keeps a value, unless it alone is beyond the bound; those that were not used for long leave until it fits in. */
  readonly set: (key: K, value: V) => void
  readonly delete: (key: K) => void
  readonly clear: () => void
  readonly size: number
  readonly stats: () => LruStats
}

/** What a map was asked, and what it holds now. */
export interface LruStats {
  readonly hits: number
  readonly misses: number
  readonly entries: number
  /** Of all entries together, as they were weighed. */
  readonly weight: number
}

interface Entry<V> {
  readonly value: V
  readonly weight: number
  /** Since it was put in, or put back. */
  used: boolean
}

/**
 * Makes a map whose entries weigh at most `max` together; without `weigh` each weighs 1.
 * Using an entry only marks it, since most uses come between two evictions: the oldest entry leaves, unless it was used, which
 * puts it back behind all others, unmarked (the second-chance algorithm). A Map iterates in order of insertion.
 */
export function createLru<K, V>(max: number, weigh: (value: V, key: K) => number = () => 1): Lru<K, V> {
  const entries = new Map<K, Entry<V>>()
  let total = 0
  let hits = 0
  let misses = 0
  const remove = (key: K): void => {
    total -= entries.get(key)?.weight ?? 0
    entries.delete(key)
  }
  const makeRoom = (weight: number): void => {
    for (const [key, entry] of entries) {
      if (total + weight <= max) return
      if (!entry.used) remove(key)
      else {
        entries.delete(key)
        entries.set(key, { ...entry, used: false })
      }
    }
  }
  return {
    get: (key) => {
      const entry = entries.get(key)
      if (entry === undefined) {
        misses += 1
        return undefined
      }
      hits += 1
      entry.used = true
      return entry.value
    },
    set: (key, value) => {
      remove(key)
      const weight = weigh(value, key)
      if (weight > max) return
      makeRoom(weight)
      entries.set(key, { value, weight, used: false })
      total += weight
    },
    delete: remove,
    clear: () => {
      entries.clear()
      total = 0
    },
    get size() {
      return entries.size
    },
    stats: () => ({ hits, misses, entries: entries.size, weight: total }),
  }
}

/** Of the room, for what was asked for once. */
const trial = 1 / 4

/**
 * The same for what anybody may send: a value has a quarter of the room until it is asked for, and the rest from then on. So values
 * that never come again neither fill the memory nor drive out those that do (a segmented LRU; Karedla, Love and Wherry, 1994).
 */
export function createTryingLru<K, V>(max: number, weigh?: (value: V, key: K) => number): Lru<K, V> {
  const tried = createLru(max * trial, weigh)
  const kept = createLru(max * (1 - trial), weigh)
  const promote = (key: K): V | undefined => {
    const value = tried.get(key)
    if (value !== undefined) {
      tried.delete(key)
      kept.set(key, value)
    }
    return value
  }
  return {
    get: (key) => kept.get(key) ?? promote(key),
    set: (key, value) => {
      kept.delete(key)
      tried.set(key, value)
    },
    delete: (key) => {
      kept.delete(key)
      tried.delete(key)
    },
    clear: () => {
      kept.clear()
      tried.clear()
    },
    get size() {
      return kept.size + tried.size
    },
    stats: () => togetherOf(kept.stats(), tried.stats()),
  }
}

/** What the first map did not have was asked of the second. */
const togetherOf = (first: LruStats, second: LruStats): LruStats => ({
  hits: first.hits + second.hits,
  misses: second.misses,
  entries: first.entries + second.entries,
  weight: first.weight + second.weight,
})
