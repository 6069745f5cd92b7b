import {
  createExchange,
  resultsAfter,
  type Difference,
  createKnownDifferences,
  differencesMade,
  type KnownDifferences,
  sameItems,
} from './differences.ts'
import {
  createReaders,
  withoutTables,
  type Inputs,
  type Readers,
  type Reads,
  tableOf,
  type KeyedTable,
  type Table,
} from './tables.ts'
import { atOnce, mapInSteps, type Steps } from '../steps.ts'

/** The results for the last list of each function: of the next list only the differences are computed. */
interface ListMemory {
  /**
   * Of items that were in the last list, only those are made again that looked up what has changed. A step is one of them, and
   * one more finds them: to compare thousands takes its time, too.
   */
  readonly results: <Item, Result>(
    fn: object,
    items: readonly Item[],
    inputs: Inputs,
    making: Making<Item, Result>,
  ) => Steps<readonly Result[]>
  /** The items that `results` would make. */
  readonly unknown: <Item>(fn: object, items: readonly Item[], inputs: Inputs) => Iterable<Item>
  readonly table: <Item>(keyOf: (item: Item) => string, items: readonly Item[]) => Table<Item>
  /** A step for some hundred items. */
  readonly groups: <Item>(
    keysOf: (item: Item) => readonly string[],
    items: readonly Item[],
  ) => Steps<Table<readonly Item[]>>
}

interface Making<Item, Result> {
  readonly made: (item: Item) => Result
  /** The lookups when it was made. */
  readonly readsOf: (item: Item) => Reads | null
}

interface ListEntry<Item, Result> {
  readonly results: readonly Result[]
  readonly readers: Readers
  /** Without tables. */
  readonly inputs: Inputs
  readonly items: readonly Item[]
}

interface TableEntry<Item, Value> {
  readonly items: readonly Item[]
  readonly table: KeyedTable<Value>
}

export function createListMemory(): ListMemory {
  const lists = new Map<object, ListEntry<unknown, unknown>>()
  const tables = new Map<object, unknown>()
  const known = createKnownDifferences()
  const lastOf = (fn: object, inputs: Inputs): ListEntry<unknown, unknown> | null => {
    const last = lists.get(fn)
    return last !== undefined && sameItems(last.inputs, withoutTables(inputs)) ? last : null
  }
  /** The table of the last list, changed by what differs. */
  const follow = function* <Item, Value>(
    fn: object,
    items: readonly Item[],
    rebuild: () => Steps<KeyedTable<Value>>,
    changes: (
      table: Table<Value>,
      removed: readonly Item[],
      added: readonly Item[],
    ) => ReadonlyMap<string, Value | undefined>,
  ): Steps<Table<Value>> {
    const last = tables.get(fn) as TableEntry<Item, Value> | undefined
    const differences = last && known.between(last.items, items)
    if (last !== undefined && differences?.length === 0) return last.table
    const table =
      last === undefined || differences === undefined || isMost(differences, items)
        ? yield* rebuild()
        : last.table.with(changes(last.table, removedItems(last.items, differences), addedItems(items, differences)))
    tables.set(fn, { items, table } satisfies TableEntry<Item, Value>)
    return table
  }
  return {
    results: function* <Item, Result>(
      fn: object,
      items: readonly Item[],
      inputs: Inputs,
      making: Making<Item, Result>,
    ) {
      const last = lastOf(fn, inputs) as ListEntry<Item, Result> | null
      // A failure leaves nothing behind that is half done.
      lists.delete(fn)
      yield
      const made = yield* last === null
        ? makeAll(items, inputs, making)
        : makeChanged(last, items, inputs, making, known)
      lists.set(fn, { ...made, inputs: withoutTables(inputs), items } satisfies ListEntry<Item, Result>)
      return made.results
    },
    unknown: (fn, items, inputs) => {
      const last = lastOf(fn, inputs)
      return last === null ? items : addedItems(items, known.between(last.items, items))
    },
    table: (keyOf, items) =>
      atOnce(
        follow(
          keyOf,
          items,
          function* () {
            yield
            return itemsByKey(keyOf, items)
          },
          (_, removed, added) =>
            new Map([
              ...removed.map((item) => [keyOf(item), undefined] as const),
              ...added.map((item) => [keyOf(item), item] as const),
            ]),
        ),
      ),
    groups: (keysOf, items) =>
      follow(
        keysOf,
        items,
        () => groupsOf(keysOf, items),
        (groups, removed, added) => changedGroups(groups, keysOf, items, removed, added),
      ),
  }
}

type Made<Result> = Pick<ListEntry<unknown, Result>, 'results' | 'readers'>

function* makeAll<Item, Result>(
  items: readonly Item[],
  inputs: Inputs,
  { made, readsOf }: Making<Item, Result>,
): Steps<Made<Result>> {
  const readers = createReaders(inputs)
  const results = yield* mapInSteps(items, (item) => {
    const result = made(item)
    readers.add(item, readsOf(item))
    return result
  })
  return { results, readers }
}

function* makeChanged<Item, Result>(
  { items: before, results, readers }: ListEntry<Item, Result>,
  items: readonly Item[],
  inputs: Inputs,
  { made, readsOf }: Making<Item, Result>,
  known: KnownDifferences,
): Steps<Made<Result>> {
  const make = (item: Item): Result => {
    const result = made(item)
    readers.add(item, readsOf(item))
    return result
  }
  const forget = (item: Item): void => readers.remove(item, readsOf(item))
  const differences = known.between(before, items)
  removedItems(before, differences).forEach(forget)
  const affected = readers.affectedBy(inputs)
  if (differences.length === 0 && affected.size === 0) return { results, readers }
  const exchange = createExchange(yield* resultsAfter(results, items, differences, make))
  const places = placesOf(items, affected)
  for (const place of places) {
    const item = items[place] as Item
    const reads = readsOf(item)
    const result = made(item)
    readers.replace(item, reads, readsOf(item))
    exchange.put(place, result)
    yield
  }
  const after = exchange.list()
  if (after === results) return { results, readers }
  const differing = differencesMade(results, after, differences, places)
  if (differing.length === 0) return { results, readers }
  known.note(results, after, differing)
  return { results: after, readers }
}

export const itemsByKey = <Item>(keyOf: (item: Item) => string, items: readonly Item[]): KeyedTable<Item> =>
  tableOf(items.map((item) => [keyOf(item), item]))

/** A step for so many items, which are only looked at. */
const stride = 256

export function* groupsOf<Item>(
  keysOf: (item: Item) => readonly string[],
  items: readonly Item[],
): Steps<KeyedTable<readonly Item[]>> {
  const groups = new Map<string, Item[]>()
  for (const [place, item] of items.entries()) {
    for (const key of keysOf(item)) push(groups, key, item)
    if (place % stride === 0) yield
  }
  return tableOf<readonly Item[]>(groups)
}

function changedGroups<Item>(
  groups: Table<readonly Item[]>,
  keysOf: (item: Item) => readonly string[],
  items: readonly Item[],
  removed: readonly Item[],
  added: readonly Item[],
): ReadonlyMap<string, readonly Item[] | undefined> {
  const keys = new Set([...removed, ...added].flatMap(keysOf))
  const members = new Set([...added, ...Array.from(keys, (key) => groups.get(key) ?? []).flat()])
  const changed = new Map<string, Item[] | undefined>(Array.from(keys, (key) => [key, undefined]))
  if (keys.size === 0) return changed
  const after = new Map<string, Item[]>()
  for (const place of placesOf(items, members)) {
    const item = items[place] as Item
    for (const key of keysOf(item)) if (keys.has(key)) push(after, key, item)
  }
  return new Map([...changed, ...after])
}

function push<Item>(groups: Map<string, Item[]>, key: string, item: Item): void {
  const group = groups.get(key)
  if (group === undefined) groups.set(key, [item])
  else group.push(item)
}

const removedItems = <Item>(before: readonly Item[], differences: readonly Difference[]): readonly Item[] =>
  differences.flatMap(({ from, to }) => before.slice(from, to))

const addedItems = <Item>(items: readonly Item[], differences: readonly Difference[]): readonly Item[] =>
  differences.flatMap(({ start, end }) => items.slice(start, end))

/** Then all that differs costs more to follow than all that there is to make. */
const isMost = (differences: readonly Difference[], items: readonly unknown[]): boolean =>
  differences.reduce((sum, { start, end }) => sum + end - start, 0) > items.length / 2

/** So few items are looked for one by one. */
const few = 16

function placesOf(items: readonly unknown[], wanted: ReadonlySet<unknown>): readonly number[] {
  if (wanted.size <= few) return [...wanted].flatMap((item) => placesOfOne(items, item)).sort((a, b) => a - b)
  return items.flatMap((item, place) => (wanted.has(item) ? [place] : []))
}

function placesOfOne(items: readonly unknown[], item: unknown): readonly number[] {
  const places: number[] = []
  for (let place = items.indexOf(item); place !== -1; place = items.indexOf(item, place + 1)) places.push(place)
  return places
}

/** Items of a list that share a key: few of thousands, so that the next list is compared by changed keys. */

type KeysOf<Item> = (item: Item) => readonly string[]
type Groups<Item> = Table<readonly Item[]>
type Shared<Item> = ReadonlyMap<string, readonly Item[]>

interface GroupsEntry<Item> {
  readonly groups: Groups<Item>
  /** Keys with more than one item. */
  readonly shared: Shared<Item>
  readonly found: readonly Item[]
}

type Sharing = <Item>(keysOf: KeysOf<Item>, items: readonly Item[]) => Steps<readonly Item[]>

/** @param groupsIn the groups of a list, which know their differences from the last one */
export function createSharing(
  groupsIn: <Item>(keysOf: KeysOf<Item>, items: readonly Item[]) => Steps<Groups<Item>>,
): Sharing {
  const memory = new Map<object, unknown>()
  return function* <Item>(keysOf: KeysOf<Item>, items: readonly Item[]) {
    const last = memory.get(keysOf) as GroupsEntry<Item> | undefined
    const groups = yield* groupsIn(keysOf, items)
    if (last?.groups === groups) return last.found
    const changed = last === undefined ? null : groups.changesSince(last.groups)
    const shared =
      changed === null ? sharedAmong(groups, yield* keysIn(keysOf, items)) : sharedAmong(groups, changed, last?.shared)
    const now = groupedItems(shared, items)
    const found = last !== undefined && sameItems(last.found, now) ? last.found : now
    memory.set(keysOf, { groups, shared, found } satisfies GroupsEntry<Item>)
    return found
  }
}

/** The same without a memo: the items that share a key with another item, or have one twice, in order. */
export const itemsSharing: Sharing = function* (keysOf, items) {
  return groupedItems(sharedAmong(yield* groupsOf(keysOf, items), yield* keysIn(keysOf, items)), items)
}

function* keysIn<Item>(keysOf: KeysOf<Item>, items: readonly Item[]): Steps<readonly string[]> {
  return (yield* mapInSteps(items, keysOf)).flat()
}

/**
 * The groups of more than one item.
 * @param keys those whose groups may differ from `before`
 */
function sharedAmong<Item>(
  groups: Groups<Item>,
  keys: Iterable<string>,
  before: Shared<Item> = new Map(),
): Shared<Item> {
  const shared = new Map(before)
  for (const key of keys) {
    const group = groups.get(key) ?? []
    if (group.length > 1) shared.set(key, group)
    else shared.delete(key)
  }
  return shared
}

function groupedItems<Item>(groups: Shared<Item>, items: readonly Item[]): readonly Item[] {
  if (groups.size === 0) return []
  const members = new Set([...groups.values()].flat())
  return items.filter((item) => members.has(item))
}
