import { setImmediate } from 'node:timers/promises'

/**
 * Work that can be left after each step and taken up again: a generator. What it comes to is the same however it is driven, at
 * once or in turns with what else the process does.
 */
export type Steps<T> = Generator<void, T, void>

/** All steps, one after the other. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const next = steps.next()
    if (next.done === true) return next.value
  }
}

/** Milliseconds after which others have their turn: long beside what a turn costs, short beside a slow request. */
const sliceMs = 10

/** Tells when others have their turn. */
export interface Pace {
  readonly isDue: () => boolean
  /** Everything that waits for the event loop runs. */
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

/** All steps, with turns for others in between. */
export async function inTurns<T>(steps: Steps<T>, pace: Pace = createPace()): Promise<T> {
  for (;;) {
    const next = steps.next()
    if (next.done === true) return next.value
    if (pace.isDue()) await pace.turn()
  }
}

/** What the function makes of each item, a step each. */
export function* mapInSteps<Item, Result>(items: readonly Item[], make: (item: Item) => Result): Steps<Result[]> {
  const results: Result[] = []
  for (const item of items) {
    results.push(make(item))
    yield
  }
  return results
}
