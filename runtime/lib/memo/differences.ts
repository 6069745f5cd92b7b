import type { Steps } from '../steps.ts'

/** Whether two values are equal JSON, member by member in the same order. */
export const sameJson = (a: unknown, b: unknown): boolean => isSame(a, b) || JSON.stringify(a) === JSON.stringify(b)

/** Whether two values are identical. In V8 `===` also reads the object, to exclude NaN, and waits for memory. */
const isSame: (a: unknown, b: unknown) => boolean = Object.is

/** Whether two lists have identical items. */
export function sameItems(a: readonly unknown[], b: readonly unknown[]): boolean {
  if (a === b) return true
  if (a.length !== b.length) return false
  for (let index = 0; index < a.length; index += 1) if (!isSame(a[index], b[index])) return false
  return true
}

/** `now`, with objects and lists of `before` where they are equal, so that results cached by identity are found. */
export function share<T>(before: unknown, now: T): T {
  if (before === now || typeof now !== 'object' || now === null || typeof before !== 'object' || before === null)
    return now
  if (Array.isArray(now)) return (Array.isArray(before) ? shareItems(before, now) : now) as T
  const names = Object.keys(now)
  if (Array.isArray(before) || !sameItems(Object.keys(before), names)) return now
  const values = Object.values(before)
  const shared = shareItems(values, Object.values(now))
  return (shared === values ? before : Object.fromEntries(names.map((name, index) => [name, shared[index]]))) as T
}

function shareItems(before: readonly unknown[], now: readonly unknown[]): readonly unknown[] {
  const shared = now.map((item, index) => share(before[index], item))
  return sameItems(before, shared) ? before : shared
}

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
    const [to, end] = nextCommon(before, from, now, start)
    found.push({ from, to, start, end })
    from = to
    start = end
  }
  return found
}

/** Where the lists continue alike after a difference: nearby, after a run of replaced items, or at their ends. */
function nextCommon(
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
interface ListExchange<T> {
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

export interface KnownDifferences {
  /** As differencesBetween; known where the one list was made of the other, or where it was asked before. */
  readonly between: (before: readonly unknown[], now: readonly unknown[]) => readonly Difference[]
  /** Records the differences of a list from the list that it was made of. */
  readonly note: (before: readonly unknown[], now: readonly unknown[], differences: readonly Difference[]) => void
}

/** `of` stands for the earlier list, so that none is kept for those that followed it. */
interface KnownEntry {
  readonly of: object
  readonly differences: readonly Difference[]
}

export function createKnownDifferences(): KnownDifferences {
  const marks = new WeakMap<readonly unknown[], object>()
  const known = new WeakMap<readonly unknown[], KnownEntry>()
  const markOf = (list: readonly unknown[]): object => {
    const mark = marks.get(list) ?? {}
    marks.set(list, mark)
    return mark
  }
  const note: KnownDifferences['note'] = (before, now, differences) => {
    known.set(now, { of: markOf(before), differences })
  }
  return {
    note,
    between: (before, now) => {
      if (before === now) return []
      const last = known.get(now)
      if (last !== undefined && last.of === marks.get(before)) return last.differences
      const differences = differencesBetween(before, now)
      note(before, now, differences)
      return differences
    },
  }
}

/**
 * The differences of a list that was made item by item of another list: at those of the other lists, where the result
 * differs, and at places of its own.
 * @param places ascending, in the later list
 */
export function differencesMade(
  before: readonly unknown[],
  now: readonly unknown[],
  differences: readonly Difference[],
  places: readonly number[],
): readonly Difference[] {
  const made: Difference[] = []
  let next = 0
  let shift = 0
  const placesUntil = (end: number): void => {
    for (; (places[next] ?? end) < end; next += 1) {
      const start = places[next] as number
      const from = start - shift
      if (!isSame(before[from], now[start])) made.push({ from, to: from + 1, start, end: start + 1 })
    }
  }
  for (const difference of differences) {
    placesUntil(difference.start)
    while ((places[next] ?? difference.end) < difference.end) next += 1
    if (!isEqualRange(before, now, difference)) made.push(difference)
    shift = difference.end - difference.to
  }
  placesUntil(now.length)
  return made
}

const isEqualRange = (
  before: readonly unknown[],
  now: readonly unknown[],
  { from, to, start, end }: Difference,
): boolean =>
  to - from === end - start && now.slice(start, end).every((item, index) => isSame(before[from + index], item))
