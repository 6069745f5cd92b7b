import type { Change, Interest, Pin } from '../../../contract/live.ts'
import type { ObjectId } from '../../../contract/manifest.ts'
import { objectId } from '../../../contract/facts.ts'

export interface InterestIndex<W> {
  /** The result removes them. */
  readonly add: (watch: W, interests: readonly Interest[]) => () => void
  /** Adds the watches that the change matters to. Returns whether there are any. */
  readonly find: (change: Change, found: Set<W>) => boolean
  /** The number of interests per relation. */
  readonly sizes: () => ReadonlyMap<ObjectId, number>
}

interface Entry<W> {
  readonly watch: W
  readonly pins: readonly Pin[]
}

interface OfRelation<W> {
  size: number
  readonly unpinned: Set<Entry<W>>
  /** By column and value. */
  readonly pinned: Map<string, Map<string, Set<Entry<W>>>>
}

export function createInterestIndex<W>(): InterestIndex<W> {
  const relations = new Map<ObjectId, OfRelation<W>>()
  const add = (watch: W, { relation: { schema, name }, pins }: Interest): (() => void) => {
    const id = objectId(schema, name)
    const of = entryOf(relations, id, newRelation<W>)
    const entry: Entry<W> = { watch, pins }
    const takeOut = put(of, entry)
    of.size += 1
    return () => {
      takeOut()
      of.size -= 1
      if (of.unpinned.size === 0 && of.pinned.size === 0) relations.delete(id)
    }
  }
  return {
    add: (watch, interests) => {
      const removals = interests.map((interest) => add(watch, interest))
      return () => removals.forEach((remove) => remove())
    },
    find: (change, found) => {
      const of = relations.get(change.relation)
      if (of === undefined) return false
      let isHeard = false
      for (const entry of entriesOf(of, change)) {
        if (!isMet(entry, change)) continue
        isHeard = true
        found.add(entry.watch)
      }
      return isHeard
    },
    sizes: () => new Map([...relations].map(([relation, { size }]) => [relation, size])),
  }
}

const newRelation = <W>(): OfRelation<W> => ({ size: 0, unpinned: new Set(), pinned: new Map() })

/** Adds an entry under the pin with the fewest entries. */
function put<W>({ unpinned, pinned }: OfRelation<W>, entry: Entry<W>): () => void {
  const places = entry.pins.map(({ column, value }) => ({
    column,
    value,
    size: pinned.get(column)?.get(value)?.size ?? 0,
  }))
  const [first] = places.sort((a, b) => a.size - b.size)
  if (first === undefined) {
    unpinned.add(entry)
    return () => void unpinned.delete(entry)
  }
  const { column, value } = first
  const values = entryOf(pinned, column, () => new Map<string, Set<Entry<W>>>())
  const entries = entryOf(values, value, () => new Set())
  entries.add(entry)
  return () => {
    entries.delete(entry)
    if (entries.size === 0) values.delete(value)
    if (values.size === 0) pinned.delete(column)
  }
}

function* entriesOf<W>({ unpinned, pinned }: OfRelation<W>, { values }: Change): Generator<Entry<W>> {
  yield* unpinned
  for (const [column, byValue] of pinned) {
    const known = values.get(column)
    if (known === undefined) for (const entries of byValue.values()) yield* entries
    else for (const value of known) yield* byValue.get(value) ?? []
  }
}

/** A column without values in the change may have had any. */
const isMet = <W>({ pins }: Entry<W>, { values }: Change): boolean =>
  pins.every(({ column, value }) => values.get(column)?.has(value) ?? true)

function entryOf<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key)
  if (known !== undefined) return known
  const made = make()
  map.set(key, made)
  return made
}
