import { sameItems, sameJson } from './share.ts'

/**
 * Remembers what functions made. Such a function is a module's own, so its result depends on its arguments alone; these
 * are compared, so dependencies need not be listed. Of tables, the memo compares what the function looked up. Without a
 * memory the same functions return the same values.
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
  /**
   * As `of`, but where a new result is the same JSON as the one before, the one before stays, so that what was made
   * from it stays too.
   */
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
   * The results for a list, each as by `of`. A function has one list at a time: of items that were in the last one,
   * not even their inputs are compared one by one, and when all results are the last ones, the list is the last one.
   */
  readonly each: <Item extends object, In extends Inputs, Result>(
    fn: (item: Item, ...inputs: In) => Result,
    items: readonly Item[],
    ...inputs: In
  ) => readonly Result[]
  /** Like `each`, but makes an item again that was not in the last list: for items that are made faster than found. */
  readonly map: <Item, In extends Inputs, Result>(
    fn: (item: Item, ...inputs: In) => Result,
    items: readonly Item[],
    ...inputs: In
  ) => readonly Result[]
}

type Inputs = readonly unknown[]

/** Something to look up by its name; a Map is one. */
export interface Lookup<T> {
  readonly get: (key: string) => T | undefined
}

const isTable = Symbol('tables')

/** Lookups by name. A remembered function takes one such object at most. */
export interface Tables {
  readonly [isTable]: true
}

export const tablesOf = <T extends Readonly<Record<string, Lookup<unknown>>>>(lookups: T): T & Tables => ({
  ...lookups,
  [isTable]: true,
})

/** What was looked up: by table and key, what was found. */
type Reads = Map<string, Map<string, unknown>>

interface Kept {
  /** Without tables. */
  readonly inputs: Inputs
  /** Null where there are no tables. */
  readonly reads: Reads | null
  readonly result: unknown
}

interface KeptList extends Kept {
  readonly items: readonly unknown[]
  readonly result: readonly unknown[]
}

export function createMemo(): Memo {
  const stages = new Map<unknown, WeakMap<object, Kept>>()
  const lists = new Map<unknown, KeptList>()
  const stageOf = (fn: object): WeakMap<object, Kept> => {
    const stage = stages.get(fn) ?? new WeakMap<object, Kept>()
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
    if (before !== undefined && isCurrent(before, inputs)) return before.result as Result
    const reads = readsFor(inputs)
    const now = make(recorded(inputs, reads))
    const result = before !== undefined && equal(before.result, now) ? (before.result as Result) : now
    stage.set(item, { inputs: withoutTables(inputs), reads, result })
    return result
  }
  const recallList = <Item, Result>(
    fn: object,
    items: readonly Item[],
    inputs: Inputs,
    make: (item: Item, given: Inputs) => Result,
  ): readonly Result[] => {
    const last = lists.get(fn)
    const current = last !== undefined && isCurrent(last, inputs)
    const reads = current ? last.reads : readsFor(inputs)
    const given = recorded(inputs, reads)
    const made = (item: Item): Result => make(item, given)
    const results = current ? remake(last, items, made) : items.map(made)
    const result = last !== undefined && sameItems(last.result, results) ? (last.result as readonly Result[]) : results
    lists.set(fn, { inputs: withoutTables(inputs), reads, items, result })
    return result
  }
  const memo: Memo = {
    one: (fn, ...inputs) => recall(fn, fn, inputs, (given) => fn(...(given as typeof inputs))),
    of: (fn, item, ...inputs) => recall(fn, item, inputs, (given) => fn(item, ...(given as typeof inputs))),
    same: (fn, item, ...inputs) => recall(fn, item, inputs, (given) => fn(item, ...(given as typeof inputs)), sameJson),
    later: (fn, item, ...inputs) => {
      const stage = stageOf(fn)
      const before = stage.get(item)
      if (before !== undefined && isCurrent(before, inputs)) return before.result as Awaited<ReturnType<typeof fn>>
      const reads = readsFor(inputs)
      return fn(item, ...(recorded(inputs, reads) as typeof inputs)).then((result) => {
        stage.set(item, { inputs: withoutTables(inputs), reads, result })
        return result
      })
    },
    each: (fn, items, ...inputs) =>
      recallList(fn, items, inputs, (item, given) => memo.of(fn, item, ...(given as typeof inputs))),
    map: (fn, items, ...inputs) =>
      recallList(fn, items, inputs, (item, given) => fn(item, ...(given as typeof inputs))),
  }
  return memo
}

/** Remembers nothing. */
export const withoutMemory: Memo = {
  one: (fn, ...inputs) => fn(...inputs),
  of: (fn, item, ...inputs) => fn(item, ...inputs),
  same: (fn, item, ...inputs) => fn(item, ...inputs),
  later: (fn, item, ...inputs) => fn(item, ...inputs),
  each: (fn, items, ...inputs) => items.map((item) => fn(item, ...inputs)),
  map: (fn, items, ...inputs) => items.map((item) => fn(item, ...inputs)),
}

type AnyTables = Tables & Readonly<Record<string, Lookup<unknown>>>

const areTables = (input: unknown): input is AnyTables =>
  typeof input === 'object' && input !== null && isTable in input

/** What is kept must not keep the tables of a compile alive. */
const withoutTables = (inputs: Inputs): Inputs => inputs.map((input) => (areTables(input) ? null : input))

const readsFor = (inputs: Inputs): Reads | null => (inputs.some(areTables) ? new Map() : null)

const isCurrent = (kept: Kept, inputs: Inputs): boolean =>
  sameItems(kept.inputs, withoutTables(inputs)) && (kept.reads === null || holds(kept.reads, inputs.find(areTables)))

function holds(reads: Reads, tables: AnyTables | undefined): boolean {
  for (const [name, found] of reads) {
    const table = tables?.[name]
    for (const [key, value] of found) if (table?.get(key) !== value) return false
  }
  return true
}

/** The inputs with tables that record lookups. Tables that already record report each key once. */
const recorded = (inputs: Inputs, reads: Reads | null): Inputs =>
  reads === null ? inputs : inputs.map((input) => (areTables(input) ? recording(input, reads) : input))

const recording = (tables: AnyTables, reads: Reads): Tables =>
  tablesOf(
    Object.fromEntries(Object.entries(tables).map(([name, table]) => [name, recordingLookup(name, table, reads)])),
  )

function recordingLookup<T>(name: string, table: Lookup<T>, reads: Reads): Lookup<T> {
  let found = reads.get(name) as Map<string, T | undefined> | undefined
  return {
    get: (key) => {
      if (found === undefined) reads.set(name, (found = new Map()))
      const known = found.get(key)
      if (known !== undefined || found.has(key)) return known
      const value = table.get(key)
      found.set(key, value)
      return value
    },
  }
}

/** How many items of the last list may have gone at one place; beyond that all later items are made again. */
const reach = 16

/**
 * Compares references only: reading thousands of objects waits for memory. It is a function of its own so that the same
 * compiled code walks all lists.
 */
function remake<Item, Result>(last: KeptList, items: readonly Item[], make: (item: Item) => Result): readonly Result[] {
  const results: Result[] = []
  let place = 0
  for (const item of items) {
    const end = Math.min(place + reach, last.items.length)
    let found = place
    while (found < end && last.items[found] !== item) found += 1
    if (found < end) place = found + 1
    results.push(found < end ? (last.result[found] as Result) : make(item))
  }
  return results
}
