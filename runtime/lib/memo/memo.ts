import { createListMemory, groupsOf, itemsByKey, createSharing, itemsSharing } from './lists.ts'
import { areCurrent, readsFor, recorded, withoutTables, type Dependencies, type Inputs, type Table } from './tables.ts'
import { sameJson } from './differences.ts'
import { createPace, inTurns, mapInSteps, type Steps } from '../steps.ts'
import { createLru } from '../caches.ts'

/**
 * Caches results of functions. Such a function is a module's own, so its result depends on its arguments alone; these
 * are compared, so dependencies need not be listed. Of tables, the memo compares what the function looked up.
 *
 *   of(fn, item, ...inputs)     kept by fn and item: { inputs, reads, result }
 *     areCurrent                inputs identical, each key in `reads` finds the same value: result
 *     otherwise                 fn(item, ...recorded(inputs, reads)): a RecordingLookup fills the new `reads`
 *   each(fn, items, ...inputs)  kept by fn: { items, inputs, results, readers }
 *     differencesBetween        items that left: readers.remove; items that came: of(fn, item, ...inputs)
 *     readers.affectedBy        tables: changesSince -> keys -> items that read these: made again
 *     all results identical     the last list itself, so that a later stage finds its own result
 */
export interface Memo {
  /** The last result of a function, as long as it is given the same. */
  readonly one: <In extends Inputs, Result>(fn: (...inputs: In) => Result, ...inputs: In) => Result
  /** The last result for each object, as long as the object lives and the other inputs are the same. */
  readonly of: <Item extends object, In extends Inputs, Result>(
    fn: (item: Item, ...inputs: In) => Result,
    item: Item,
    ...inputs: In
  ) => Result
  /** As `of`, but a new result of equal JSON is replaced by the earlier one, which later stages know. */
  readonly same: <Item extends object, In extends Inputs, Result>(
    fn: (item: Item, ...inputs: In) => Result,
    item: Item,
    ...inputs: In
  ) => Result
  /** As `of`, for what takes time. A failure is not remembered. */
  readonly later: <Item extends object, In extends Inputs, Result>(
    fn: (item: Item, ...inputs: In) => Promise<Result>,
    item: Item,
    ...inputs: In
  ) => Result | Promise<Result>
  /**
   * The results for a list, each as by `of`. A function has one list at a time: of items that were in the last one, only those
   * are looked at that looked up what has changed, and when all results are the last ones, the list is the last one. A step
   * is an item that was made.
   */
  readonly each: <Item extends object, In extends Inputs, Result>(
    fn: (item: Item, ...inputs: In) => Result,
    items: readonly Item[],
    ...inputs: In
  ) => Steps<readonly Result[]>
  /** Like `each`, but makes each new item: for items that are made faster than found. It takes no tables. */
  readonly map: <Item, In extends Inputs, Result>(
    fn: (item: Item, ...inputs: In) => Result,
    items: readonly Item[],
    ...inputs: In
  ) => Steps<readonly Result[]>
  /** Like `each`, for what takes time: one after the other, with turns for others in between. It takes no tables. */
  readonly eachLater: <Item extends object, In extends Inputs, Result>(
    fn: (item: Item, ...inputs: In) => Promise<Result>,
    items: readonly Item[],
    ...inputs: In
  ) => Promise<readonly Result[]>
  /** The items by their keys, which differ. */
  readonly table: <Item>(keyOf: (item: Item) => string, items: readonly Item[]) => Table<Item>
  /** By key: the items that have it, in their order. */
  readonly groups: <Item extends object>(
    keysOf: (item: Item) => readonly string[],
    items: readonly Item[],
  ) => Steps<Table<readonly Item[]>>
  /** The items that share a key with another item, or have one twice, in their order. */
  readonly sharing: <Item extends object>(
    keysOf: (item: Item) => readonly string[],
    items: readonly Item[],
  ) => Steps<readonly Item[]>
}

interface MemoEntry extends Dependencies {
  readonly result: unknown
}

export function createMemo(): Memo {
  const stages = new Map<unknown, WeakMap<object, MemoEntry>>()
  const lists = createListMemory()
  const stageOf = (fn: object): WeakMap<object, MemoEntry> => {
    const stage = stages.get(fn) ?? new WeakMap<object, MemoEntry>()
    stages.set(fn, stage)
    return stage
  }
  const recall = <Result>(
    fn: object,
    item: object,
    inputs: Inputs,
    make: (given: Inputs) => Result,
    equal: (before: unknown, now: Result) => boolean = () => false,
  ): Result => {
    const stage = stageOf(fn)
    const before = stage.get(item)
    if (before !== undefined && areCurrent(before, inputs)) return before.result as Result
    const reads = readsFor(inputs)
    const now = make(recorded(inputs, reads))
    const result = before !== undefined && equal(before.result, now) ? (before.result as Result) : now
    stage.set(item, { inputs: withoutTables(inputs), reads, result })
    return result
  }
  const memo: Memo = {
    one: (fn, ...inputs) => recall(fn, fn, inputs, (given) => fn(...(given as typeof inputs))),
    of: (fn, item, ...inputs) => recall(fn, item, inputs, (given) => fn(item, ...(given as typeof inputs))),
    same: (fn, item, ...inputs) => recall(fn, item, inputs, (given) => fn(item, ...(given as typeof inputs)), sameJson),
    later: (fn, item, ...inputs) => {
      const stage = stageOf(fn)
      const before = stage.get(item)
      if (before !== undefined && areCurrent(before, inputs)) return before.result as Awaited<ReturnType<typeof fn>>
      const reads = readsFor(inputs)
      return fn(item, ...(recorded(inputs, reads) as typeof inputs)).then((result) => {
        stage.set(item, { inputs: withoutTables(inputs), reads, result })
        return result
      })
    },
    each: (fn, items, ...inputs) => {
      const stage = stageOf(fn)
      return lists.results(fn, items, inputs, {
        made: (item) => memo.of(fn, item, ...inputs),
        readsOf: (item) => stage.get(item)?.reads ?? null,
      })
    },
    map: (fn, items, ...inputs) =>
      lists.results(fn, items, inputs, { made: (item) => fn(item, ...inputs), readsOf: () => null }),
    eachLater: async (fn, items, ...inputs) => {
      const made = new Map<object, Awaited<ReturnType<typeof fn>>>()
      const pace = createPace()
      for (const item of lists.unknown(fn, items, inputs)) {
        made.set(item, await memo.later(fn, item, ...inputs))
        if (pace.isDue()) await pace.turn()
      }
      const known = (item: object) => made.get(item) as Awaited<ReturnType<typeof fn>>
      return inTurns(lists.results(fn, items, inputs, { made: known, readsOf: () => null }), pace)
    },
    table: (keyOf, items) => lists.table(keyOf, items),
    groups: (keysOf, items) => lists.groups(keysOf, items),
    sharing: createSharing(lists.groups),
  }
  return memo
}

/** Remembers nothing. */
export const withoutMemory: Memo = {
  one: (fn, ...inputs) => fn(...inputs),
  of: (fn, item, ...inputs) => fn(item, ...inputs),
  same: (fn, item, ...inputs) => fn(item, ...inputs),
  later: (fn, item, ...inputs) => fn(item, ...inputs),
  each: (fn, items, ...inputs) => mapInSteps(items, (item) => fn(item, ...inputs)),
  map: (fn, items, ...inputs) => mapInSteps(items, (item) => fn(item, ...inputs)),
  eachLater: async (fn, items, ...inputs) => {
    const results: Awaited<ReturnType<typeof fn>>[] = []
    for (const item of items) results.push(await fn(item, ...inputs))
    return results
  },
  table: itemsByKey,
  groups: groupsOf,
  sharing: itemsSharing,
}

/** The cached results for roles with the same privileges, which successive engines share. */
export interface RoleMemory {
  /** Of what is the same for all roles. */
  readonly shared: Memo
  readonly own: Memo
}

export interface Memories {
  readonly shared: Memo
  /** @param privileges equal texts for equal ones */
  readonly of: (privileges: string) => RoleMemory
}

/** A token can only name roles that exist, but a database may have thousands of them. */
export const maxRoles = 64

export function createMemories(): Memories {
  const shared = createMemo()
  const known = createLru<string, RoleMemory>(maxRoles)
  return {
    shared,
    of: (privileges) => {
      const memory = known.get(privileges) ?? { shared, own: createMemo() }
      known.set(privileges, memory)
      return memory
    },
  }
}

export const withoutMemories: RoleMemory = { shared: withoutMemory, own: withoutMemory }
