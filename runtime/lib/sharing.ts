import { groupsOf } from './lists.ts'
import { sameItems } from './share.ts'
import { mapInSteps, type Steps } from './steps.ts'
import type { Table } from './table.ts'

/** Items of a list that share a key: few of thousands, so that the next list is compared by changed keys. */

type KeysOf<Item> = (item: Item) => readonly string[]
type Groups<Item> = Table<readonly Item[]>
type Shared<Item> = ReadonlyMap<string, readonly Item[]>

interface Kept<Item> {
  readonly groups: Groups<Item>
  /** Keys with more than one item. */
  readonly shared: Shared<Item>
  /** Their items. */
  readonly found: readonly Item[]
}

export type Sharing = <Item>(keysOf: KeysOf<Item>, items: readonly Item[]) => Steps<readonly Item[]>

/** @param groupsIn the groups of a list, which know their differences from the last one */
export function createSharing(
  groupsIn: <Item>(keysOf: KeysOf<Item>, items: readonly Item[]) => Steps<Groups<Item>>,
): Sharing {
  const memory = new Map<object, unknown>()
  return function* <Item>(keysOf: KeysOf<Item>, items: readonly Item[]) {
    const last = memory.get(keysOf) as Kept<Item> | undefined
    const groups = yield* groupsIn(keysOf, items)
    if (last?.groups === groups) return last.found
    const changed = last === undefined ? null : groups.changesSince(last.groups)
    const shared =
      changed === null ? sharedAmong(groups, yield* keysIn(keysOf, items)) : sharedAmong(groups, changed, last?.shared)
    const now = membersOf(shared, items)
    const found = last !== undefined && sameItems(last.found, now) ? last.found : now
    memory.set(keysOf, { groups, shared, found } satisfies Kept<Item>)
    return found
  }
}

/** The same without a memo: the items that share a key with another one, or have one twice, in order. */
export const itemsSharing: Sharing = function* (keysOf, items) {
  return membersOf(sharedAmong(yield* groupsOf(keysOf, items), yield* keysIn(keysOf, items)), items)
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

function membersOf<Item>(groups: Shared<Item>, items: readonly Item[]): readonly Item[] {
  if (groups.size === 0) return []
  const members = new Set([...groups.values()].flat())
  return items.filter((item) => members.has(item))
}
