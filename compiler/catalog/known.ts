import type { Steps } from '../../runtime/lib/steps.ts'
import { tableOf, type KeyedTable } from '../../runtime/lib/memo/tables.ts'
import type { Oid, Catalog, CatalogType } from './catalog.ts'
import type { CatalogAnswer, ReadFunction, ReadRelation } from './decode.ts'

/** Relations or functions in order and by OID; immutable, and replaced by later ones. */
interface Objects<R> {
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

export interface KindOfObject<R> {
  readonly order: (a: R, b: R) => number
  readonly isAlwaysRead: (read: R) => boolean
}

const noObjects = <R>(): Objects<R> => ({ items: [], byOid: tableOf<R>([]), mentions: new Map(), always: new Set() })

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

/**
 * The content of earlier answers, so that the next query reads changes only. An unchanged object keeps its identity,
 * and so do the unchanged parts of others: later stages find their memoized results by identity.
 */
export interface KnownObjects extends Pick<CatalogAnswer, 'server' | 'filled' | 'needy'> {
  /** Null: something else than relations may have changed as well. Else what a brief answer leaves out. */
  readonly rest: RestOfAnswer | null
  /** The snapshot and counter from which recorded changes continue; null if only a complete comparison will do. */
  readonly since: RecordPlace | null
  readonly roles: ReadonlyMap<Oid, string>
  readonly relations: Objects<ReadRelation>
  /** Relations among them that must be read again. */
  readonly doubtful: ReadonlySet<Oid>
  readonly functions: Objects<ReadFunction>
  /** By owner: a few sample relations, which show whether REASSIGN OWNED gave them to another owner. */
  readonly ownerSamples: ReadonlyMap<string, readonly Oid[]>
  readonly types: ReadonlyMap<Oid, CatalogType>
  readonly schemas: Catalog['schemas']
  readonly lists: KnownLists
}

/** The version is that of these lists. */
export type RestOfAnswer = Pick<
  CatalogAnswer,
  'version' | 'roles' | 'memberships' | 'members' | 'schemas' | 'typeSchemas' | 'strays'
>

/** Lists that are always read: identical while their content is equal. */
export type KnownLists = Pick<Catalog, 'roles' | 'memberships' | 'members' | 'filled'>

interface RecordPlace {
  readonly snapshot: string
  readonly counter: string
}

export const nothingKnown: KnownObjects = {
  since: null,
  rest: null,
  server: '',
  roles: new Map(),
  relations: noObjects(),
  doubtful: new Set(),
  functions: noObjects(),
  ownerSamples: new Map(),
  types: new Map(),
  schemas: [],
  lists: { roles: [], memberships: [] },
  filled: [],
  needy: [],
}

/** Parameters of the complete query, from $2 on. */
export const wholeValues = ({ relations, doubtful, functions }: KnownObjects): unknown[] => [
  ...hashesOf(relations.items.filter(({ object }) => !doubtful.has(object.oid))),
  ...hashesOf(functions.items),
  [...mentionedBy(relations, functions)],
]

const hashesOf = (read: readonly (ReadRelation | ReadFunction)[]): readonly (readonly (string | null)[])[] => [
  read.map(({ object }) => object.oid),
  read.map(({ hash }) => hash),
]

/** Parameters of the query of recorded changes, from $2 on. The functions in a default may have been renamed. */
export const recordedValues = (
  { relations, doubtful, functions, ownerSamples, types }: KnownObjects,
  since: RecordPlace,
): unknown[] => [
  [...relations.always],
  [...functions.always],
  [...types.keys()],
  since.snapshot,
  since.counter,
  [...doubtful, ...inheritedIn(relations)],
  [...ownerSamples.values()].flat(),
  [...ownerSamples].flatMap(([owner, oids]) => oids.map(() => owner)),
]

/** The record of a table does not include the tables from which it no longer inherits. */
const inheritedIn = ({ always, byOid }: KnownObjects['relations']): readonly Oid[] =>
  [...always].filter((oid) => byOid.get(oid)?.inherited === true)

export const mentionedBy = (
  relations: KnownObjects['relations'],
  functions: KnownObjects['functions'],
): ReadonlySet<Oid> => new Set([...relations.mentions.keys(), ...functions.mentions.keys()])
