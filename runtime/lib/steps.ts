import { setImmediate } from 'node:timers/promises'

/**
 * Work that can be interrupted after each step: a generator. Its result does not depend on how it is driven, without
 * pauses or interleaved with other work of the process.
 */
export type Steps<T> = Generator<void, T, void>

/** Runs all steps without pauses. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const next = steps.next()
    if (next.done === true) return next.value
  }
}

/** Milliseconds between pauses: long compared to a pause, short compared to a slow request. */
const sliceMs = 10

/** Decides when to pause. */
interface Pace {
  readonly isDue: () => boolean
  /** Runs everything that waits for the event loop. */
  readonly turn: () => Promise<void>
}

export function createPace(now: () => number = () => performance.now()): Pace {
  let since = now()
  return {
    isDue: () => now() - since >= sliceMs,
    turn: async () => {
      await setImmediate()
      since = now()
    },
  }
}

/** Runs all steps with pauses for other work. */
export async function inTurns<T>(steps: Steps<T>, pace: Pace = createPace()): Promise<T> {
  for (;;) {
    const next = steps.next()
    if (next.done === true) return next.value
    if (pace.isDue()) await pace.turn()
  }
}

/** The function's result for each item, one step each. */
export function* mapInSteps<Item, Result>(items: readonly Item[], make: (item: Item) => Result): Steps<Result[]> {
  const results: Result[] = []
  for (const item of items) {
    results.push(make(item))
    yield
  }
  return results
}

/** The items under the key of each, in order; Node 21 has Map.groupBy (ECMAScript 2024). */
export const groupBy = <K, T>(items: readonly T[], keyOf: (item: T) => K): ReadonlyMap<K, readonly T[]> =>
  atOnce(groupInSteps(items, keyOf))

/** Items per step, which are only looked at. */
const stride = 256

export function* groupInSteps<K, T>(items: readonly T[], keyOf: (item: T) => K): Steps<ReadonlyMap<K, readonly T[]>> {
  const groups = new Map<K, T[]>()
  for (const [place, item] of items.entries()) {
    const key = keyOf(item)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [item])
    else group.push(item)
    if (place % stride === 0) yield
  }
  return groups
}
