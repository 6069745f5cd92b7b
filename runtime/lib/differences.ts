import { isSame } from './share.ts'
import type { Steps } from './steps.ts'

/** Items of one list that replace items of another. */
export interface Difference {
  /** The start (inclusive) and end (exclusive) in the earlier list. */
  readonly from: number
  readonly to: number
  /** The same in the later list. */
  readonly start: number
  readonly end: number
}

/** The distance within which common items are searched behind a difference. */
const reach = 8

/** The differences of two lists, by reference, in order: few if little changed. Everything between them is equal. */
export function differencesBetween(before: readonly unknown[], now: readonly unknown[]): readonly Difference[] {
  if (before === now) return []
  const found: Difference[] = []
  let [from, start] = [0, 0]
  while (from < before.length || start < now.length) {
    if (from < before.length && start < now.length && isSame(before[from], now[start])) {
      from += 1
      start += 1
      continue
    }
    const [to, end] = meetingOf(before, from, now, start)
    found.push({ from, to, start, end })
    from = to
    start = end
  }
  return found
}

/** Where the lists continue alike after a difference: nearby, after a run of replaced items, or at their ends. */
function meetingOf(
  before: readonly unknown[],
  from: number,
  now: readonly unknown[],
  start: number,
): readonly [to: number, end: number] {
  const meets = (gone: number, come: number): boolean =>
    from + gone < before.length && start + come < now.length && isSame(before[from + gone], now[start + come])
  for (let distance = 1; distance <= 2 * reach; distance += 1) {
    for (let gone = 0; gone <= distance; gone += 1)
      if (meets(gone, distance - gone)) return [from + gone, start + distance - gone]
  }
  const shorter = Math.min(before.length - from, now.length - start)
  for (let run = reach + 1; run < shorter; run += 1) if (meets(run, run)) return [from + run, start + run]
  let alike = 0
  while (alike < shorter && isSame(before.at(-1 - alike), now.at(-1 - alike))) alike += 1
  return [before.length - alike, now.length - alike]
}

/** A list with exchanged places: the same object while all places keep their items. */
export interface ListExchange<T> {
  readonly put: (place: number, item: T) => void
  readonly list: () => readonly T[]
}

export function createExchange<T>(before: readonly T[]): ListExchange<T> {
  let after: T[] | null = null
  return {
    put: (place, item) => {
      if (isSame((after ?? before)[place], item)) return
      after ??= before.slice()
      after[place] = item
    },
    list: () => after ?? before,
  }
}

/**
 * The later list with a result for each of its items: from `results` for common items, else from `made`, one step each.
 */
export function* resultsAfter<Item, Result>(
  results: readonly Result[],
  items: readonly Item[],
  differences: readonly Difference[],
  made: (item: Item) => Result,
): Steps<readonly Result[]> {
  if (differences.every(({ from, to, start, end }) => to - from === end - start && from === start))
    return yield* exchanged(results, items, differences, made)
  const after: Result[] = []
  let place = 0
  for (const { from, to, start, end } of differences) {
    for (; place < from; place += 1) after.push(results[place] as Result)
    for (let next = start; next < end; next += 1) {
      after.push(made(items[next] as Item))
      yield
    }
    place = to
  }
  for (; place < results.length; place += 1) after.push(results[place] as Result)
  return after
}

/** If each item takes the place of another. */
function* exchanged<Item, Result>(
  results: readonly Result[],
  items: readonly Item[],
  differences: readonly Difference[],
  made: (item: Item) => Result,
): Steps<readonly Result[]> {
  const after = createExchange(results)
  for (const { start, end } of differences)
    for (let place = start; place < end; place += 1) {
      after.put(place, made(items[place] as Item))
      yield
    }
  return after.list()
}
