/**
 * Gives the result that was made for `of` the last time, when it was made from the very same inputs; makes it
 * otherwise. Whatever decides the result besides `of` itself has to be among the inputs.
 */
export type Recall<Result> = (of: object, inputs: readonly unknown[], make: () => Result) => Result

/**
 * A memory that holds one result for each object, as long as the object lives. Where `equal` finds that a new result
 * says the same as the one before, the one before stays, so that what was made from it stays too.
 */
export function createRecall<Result>(equal: (before: Result, now: Result) => boolean = () => false): Recall<Result> {
  const memory = new WeakMap<object, { readonly inputs: readonly unknown[]; readonly result: Result }>()
  return (of, inputs, make) => {
    const before = memory.get(of)
    if (before !== undefined && sameItems(before.inputs, inputs)) return before.result
    const now = make()
    const result = before !== undefined && equal(before.result, now) ? before.result : now
    memory.set(of, { inputs, result })
    return result
  }
}

/** Whether two values are the same JSON, member by member in the same order. */
export const sameJson = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

const sameItems = (a: readonly unknown[], b: readonly unknown[]): boolean =>
  a.length === b.length && a.every((item, index) => item === b[index])
