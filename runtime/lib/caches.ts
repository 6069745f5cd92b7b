export interface Lru<K, V> {
  /** The value of the key, which marks it as used; undefined if absent. */
  readonly get: (key: K) => V | undefined
  /** Keeps a value, unless it alone exceeds the bound; entries without recent use are evicted until it fits in. */
  readonly set: (key: K, value: V) => void
  readonly delete: (key: K) => void
  readonly clear: () => void
  readonly size: number
  readonly stats: () => LruStats
}

/** The hits and present content of a map. */
export interface LruStats {
  readonly hits: number
  readonly misses: number
  readonly entries: number
  /** The total weight of all entries. */
  readonly weight: number
}

interface Entry<V> {
  readonly value: V
  readonly weight: number
  /** Since it was inserted, or put back. */
  used: boolean
}

/**
 * Creates a map with a total weight of at most `max`; without `weigh` each entry weighs 1. A use only marks an entry,
 * because most uses come between two evictions: the oldest entry is evicted, unless it was used, which moves it behind
 * all others, unmarked (the second-chance algorithm). A Map iterates in order of insertion.
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

/** The share for entries that were requested once. */
const trial = 1 / 4

/**
 * The same for untrusted input: a value competes for a quarter of the room until it is requested again, and for the
 * rest from then on. So values that never come again neither fill the memory nor evict those that do (a segmented LRU;
 * Karedla, Love and Wherry, 1994).
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

/** Misses of the first map are looked up in the second. */
const togetherOf = (first: LruStats, second: LruStats): LruStats => ({
  hits: first.hits + second.hits,
  misses: second.misses,
  entries: first.entries + second.entries,
  weight: first.weight + second.weight,
})

/** Caches the value of the first call. */
export const once = <T>(make: () => T): (() => T) => {
  let made: { readonly value: T } | undefined
  return () => (made ??= { value: make() }).value
}

/** Concurrent callers of the function share one result or failure. The next call runs it again. */
export function singleFlight<T>(fn: () => Promise<T>): () => Promise<T> {
  let flight: Promise<T> | null = null
  return () => {
    flight ??= fn().finally(() => {
      flight = null
    })
    return flight
  }
}
