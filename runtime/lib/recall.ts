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

/** Whether two values are the same JSON, member by member in the same order. */
export const sameJson = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

/** Whether two lists hold the very same values. */
export const sameItems = (a: readonly unknown[], b: readonly unknown[]): boolean =>
  a.length === b.length && a.every((item, index) => item === b[index])

/**
 * What `now` says, made of what was before as far as that said the same: every object and list in it that is the same
 * JSON as the one in its place before is that very one, so that what was made from it is found again.
 */
export function share<T>(before: unknown, now: T): T {
  if (typeof now !== 'object' || now === null || typeof before !== 'object' || before === null) return now
  if (Array.isArray(now)) return (Array.isArray(before) ? shareItems(before, now) : now) as T
  const members = Object.entries(now)
  const values = Object.values(before)
  const names = Object.keys(before)
  const shared = members.map(([name, value], index) => [name, share(name === names[index] ? values[index] : undefined, value)] as const)
  const same = members.length === names.length && shared.every(([name, value], index) => name === names[index] && value === values[index])
  return (same ? before : Object.fromEntries(shared)) as T
}

function shareItems(before: readonly unknown[], now: readonly unknown[]): readonly unknown[] {
  const shared = now.map((item, index) => share(before[index], item))
  return sameItems(before, shared) ? before : shared
}
