/** A bounded map that forgets what was used longest ago. */
export interface Lru<K, V> {
  /** The value kept under the key, which becomes the most recently used one; undefined when there is none. */
  readonly get: (key: K) => V | undefined
  /** Keeps a value; the least recently used ones leave until the rest is within the bound. */
  readonly set: (key: K, value: V) => void
  readonly delete: (key: K) => void
  readonly clear: () => void
  readonly size: number
}

interface Entry<V> {
  readonly value: V
  readonly weight: number
}

/**
 * Makes a map whose entries weigh at most `max` together; without `weigh` each weighs 1.
 * A Map iterates in order of insertion, so the first key is the one that was used longest ago.
 */
export function createLru<K, V>(max: number, weigh: (value: V, key: K) => number = () => 1): Lru<K, V> {
  const entries = new Map<K, Entry<V>>()
  let total = 0
  const remove = (key: K): void => {
    total -= entries.get(key)?.weight ?? 0
    entries.delete(key)
  }
  return {
    get: (key) => {
      const entry = entries.get(key)
      if (entry === undefined) return undefined
      entries.delete(key)
      entries.set(key, entry)
      return entry.value
    },
    set: (key, value) => {
      remove(key)
      const weight = weigh(value, key)
      entries.set(key, { value, weight })
      total += weight
      for (const oldest of entries.keys()) {
        if (total <= max) return
        remove(oldest)
      }
    },
    delete: remove,
    clear: () => {
      entries.clear()
      total = 0
    },
    get size() {
      return entries.size
    },
  }
}
