/** An unordered collection with thousands of insertions and removals per second. */
export interface Bag<T> {
  /** Inserts an item. The result removes it, and returns whether it was present. */
  readonly add: (item: T) => () => boolean
  /** The present items. */
  readonly all: () => readonly T[]
  readonly size: () => number
}

interface Place<T> {
  readonly item: T
  /** -1: removed. */
  at: number
}

/**
 * An array in which the last item fills each gap. A Set would do, but V8 links each outgrown table of a Set to the next
 * one: once one of them is in the old generation, all later ones and their content become old as well, and only the
 * expensive kind of collection frees them. That kept 1.7 KB of each request alive.
 */
export function createBag<T>(): Bag<T> {
  const places: Place<T>[] = []
  const remove = (place: Place<T>): boolean => {
    if (place.at === -1) return false
    const last = places.pop()
    if (last !== undefined && last !== place) {
      places[place.at] = last
      last.at = place.at
    }
    place.at = -1
    return true
  }
  return {
    add: (item) => {
      const place = { item, at: places.length }
      places.push(place)
      return () => remove(place)
    },
    all: () => places.map(({ item }) => item),
    size: () => places.length,
  }
}
