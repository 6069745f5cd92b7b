import type { Steps } from '../../runtime/lib/steps.ts'
import { tableOf, type KeyedTable } from '../../runtime/lib/memo/tables.ts'
import type { Oid } from './catalog.ts'

/** Relations or functions in order and by OID; immutable, and replaced by later ones. */
export interface Objects<R> {
  readonly items: readonly R[]
  readonly byOid: KeyedTable<R>
  /** How many of them mention each type. */
  readonly mentions: ReadonlyMap<Oid, number>
  /** Those that are read with every change. */
  readonly always: ReadonlySet<Oid>
}

interface ReadObject {
  readonly mentions: readonly Oid[]
  readonly object: { readonly oid: Oid }
}

/** The functions for one kind of object. */
export interface KindOfObject<R> {
  readonly order: (a: R, b: R) => number
  readonly isAlwaysRead: (read: R) => boolean
}

export const noObjects = <R>(): Objects<R> => ({
  items: [],
  byOid: tableOf<R>([]),
  mentions: new Map(),
  always: new Set(),
})

/** Above this share of changes all are sorted again. */
const most = 1 / 8

/** In a few steps. @param read replace those with the same OIDs */
export function* follow<R extends ReadObject>(
  { order, isAlwaysRead }: KindOfObject<R>,
  before: Objects<R>,
  gone: readonly Oid[],
  read: readonly R[],
): Steps<Objects<R>> {
  const leaving = new Set(
    [...gone, ...read.map(({ object }) => object.oid)].flatMap((oid) => before.byOid.get(oid) ?? []),
  )
  const isMuch = leaving.size + read.length > before.items.length * most
  const changes = new Map<Oid, R | undefined>(Array.from(leaving, ({ object }) => [object.oid, undefined]))
  for (const one of read) changes.set(one.object.oid, one)
  const always = new Set(before.always)
  for (const [oid, one] of changes)
    if (one !== undefined && isAlwaysRead(one)) always.add(oid)
    else always.delete(oid)
  yield
  const items = isMuch
    ? [...before.items.filter((item) => !leaving.has(item)), ...read].sort(order)
    : exchanged(before.items, leaving, read, order)
  yield
  const byOid = before.byOid.with(changes)
  yield
  return { items, byOid, mentions: counted(before.mentions, leaving, read), always }
}

function exchanged<R>(
  items: readonly R[],
  leaving: Iterable<R>,
  coming: readonly R[],
  order: KindOfObject<R>['order'],
): readonly R[] {
  const after = [...items]
  for (const item of leaving) after.splice(after.indexOf(item, placeInOrder(after, item, order)), 1)
  for (const item of coming) after.splice(placeInOrder(after, item, order), 0, item)
  return after
}

/** The index at which an item is inserted into an ordered list. */
function placeInOrder<R>(items: readonly R[], item: R, order: KindOfObject<R>['order']): number {
  let [from, to] = [0, items.length]
  while (from < to) {
    const middle = (from + to) >> 1
    if (order(items[middle] as R, item) < 0) from = middle + 1
    else to = middle
  }
  return from
}

function counted<R extends ReadObject>(
  before: ReadonlyMap<Oid, number>,
  leaving: Iterable<R>,
  coming: Iterable<R>,
): ReadonlyMap<Oid, number> {
  const counts = new Map(before)
  const add = ({ mentions }: R, step: number): void => {
    for (const type of new Set(mentions)) {
      const count = (counts.get(type) ?? 0) + step
      if (count > 0) counts.set(type, count)
      else counts.delete(type)
    }
  }
  for (const item of leaving) add(item, -1)
  for (const item of coming) add(item, 1)
  return counts
}
