/** A bounded map that forgets what was used longest ago. */
export interface Lru<K, V> {
  /** The value kept under the key, which becomes the most recently used one; undefined when there is none. */
  readonly get: (key: K) => V | undefined
  /** Keeps a value; the least recently used one leaves when there are too many. */
  readonly set: (key: K, value: V) => void
  readonly delete: (key: K) => void
  readonly clear: () => void
  readonly size: number
}

/**
 * Makes a map of at most `max` entries.
 * A Map iterates in order of insertion, so the first key is the one that was used longest ago.
 */
export function createLru<K, V>(max: number): Lru<K, V> {
  const entries = new Map<K, V>()
  const put = (key: K, value: V): void => {
    entries.delete(key)
    entries.set(key, value)
  }
  return {
    get: (key) => {
      const value = entries.get(key)
      if (value !== undefined) put(key, value)
      return value
    },
    set: (key, value) => {
      put(key, value)
      if (entries.size > max) evictOldest(entries)
    },
    delete: (key) => void entries.delete(key),
    clear: () => entries.clear(),
    get size() {
      return entries.size
    },
  }
}

function evictOldest<K, V>(entries: Map<K, V>): void {
  for (const key of entries.keys()) {
    entries.delete(key)
    return
  }
}
