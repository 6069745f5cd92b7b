import { differencesBetween, type Difference } from './differences.ts'
import { isSame } from './share.ts'

/** Where the lists of a memory differ from the ones before them. */
export interface KnownDifferences {
  /** As differencesBetween; known where the one list was made of the other, or where it was asked before. */
  readonly between: (before: readonly unknown[], now: readonly unknown[]) => readonly Difference[]
  /** Notes where a list differs that was made of another one. */
  readonly note: (before: readonly unknown[], now: readonly unknown[], differences: readonly Difference[]) => void
}

/** `of` stands for the earlier list, so that none is kept for those that followed it. */
interface Known {
  readonly of: object
  readonly differences: readonly Difference[]
}

export function createKnownDifferences(): KnownDifferences {
  const marks = new WeakMap<readonly unknown[], object>()
  const known = new WeakMap<readonly unknown[], Known>()
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
 * Where a list differs that was made item by item of another one: at the differences of these, where something else was made, and
 * at places of their own.
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
    if (!isAlike(before, now, difference)) made.push(difference)
    shift = difference.end - difference.to
  }
  placesUntil(now.length)
  return made
}

const isAlike = (before: readonly unknown[], now: readonly unknown[], { from, to, start, end }: Difference): boolean =>
  to - from === end - start && now.slice(start, end).every((item, index) => isSame(before[from + index], item))
