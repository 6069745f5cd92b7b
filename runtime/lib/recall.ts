/**
 * Gives the result that was made for `of` the last time, when it was made from the very same inputs; makes it
 * otherwise, perhaps with parts of what was before. Whatever decides the result besides `of` itself has to be among the
 * inputs.
 */
export type Recall<Result> = (
  of: object,
  inputs: readonly unknown[],
  make: (before: Result | undefined) => Result,
) => Result

/**
 * A memory that holds one result for each object, as long as the object lives. Where `equal` finds that a new result
 * says the same as the one before, the one before stays, so that what was made from it stays too.
 */
export function createRecall<Result>(equal: (before: Result, now: Result) => boolean = () => false): Recall<Result> {
  const memory = new WeakMap<object, { readonly inputs: readonly unknown[]; readonly result: Result }>()
  return (of, inputs, make) => {
    const before = memory.get(of)
    if (before !== undefined && sameItems(before.inputs, inputs)) return before.result
    const now = make(before?.result)
    const result = before !== undefined && equal(before.result, now) ? before.result : now
    memory.set(of, { inputs, result })
    return result
  }
}

/**
 * Gives what `make` makes of each item of a list; of items that were in the last list that belonged to `of`, what was
 * made of them then, as long as the other inputs are the very same. When all results are those of the last list, the
 * list is that one.
 *
 * To find that out it compares references only: whoever walks through thousands of objects waits for memory.
 */
export type ListRecall<Item, Result> = (
  of: object,
  items: readonly Item[],
  inputs: readonly unknown[],
  make: (item: Item) => Result,
) => readonly Result[]

interface LastList<Item, Result> {
  readonly inputs: readonly unknown[]
  readonly items: readonly Item[]
  readonly results: readonly Result[]
}

export function createListRecall<Item, Result>(): ListRecall<Item, Result> {
  const memory = new WeakMap<object, LastList<Item, Result>>()
  return (of, items, inputs, make) => {
    const last = memory.get(of)
    const comparable = last !== undefined && sameItems(last.inputs, inputs)
    const results = comparable ? remake(last, items, make) : items.map((item) => make(item))
    const kept = last !== undefined && sameItems(last.results, results) ? last.results : results
    memory.set(of, { inputs, items, results: kept })
    return kept
  }
}

/** How many items of the last list may have gone at one place; beyond that all that follow are made anew. */
const reach = 16

/** Stands by itself so that all lists are walked by the same compiled code. */
function remake<Item, Result>(
  last: LastList<Item, Result>,
  items: readonly Item[],
  make: (item: Item) => Result,
): readonly Result[] {
  const results: Result[] = []
  let place = 0
  for (const item of items) {
    const end = Math.min(place + reach, last.items.length)
    let found = place
    while (found < end && last.items[found] !== item) found += 1
    if (found < end) place = found + 1
    results.push(found < end ? (last.results[found] as Result) : make(item))
  }
  return results
}

/** Whether two values are the same JSON, member by member in the same order. */
export const sameJson = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

/** Whether two lists hold the very same values. */
export function sameItems(a: readonly unknown[], b: readonly unknown[]): boolean {
  if (a.length !== b.length) return false
  for (let index = 0; index < a.length; index += 1) if (a[index] !== b[index]) return false
  return true
}

/**
 * What `now` says, made of what was before as far as that said the same: every object and list in it that is the same
 * JSON as the one in its place before is that very one, so that what was made from it is found again.
 */
export function share<T>(before: unknown, now: T): T {
  if (typeof now !== 'object' || now === null || typeof before !== 'object' || before === null) return now
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
