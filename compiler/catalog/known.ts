import type { CatalogAnswer, ReadFunction, ReadRelation } from './decode.ts'
import { noObjects, type Objects } from './objects.ts'
import type { Catalog, CatalogType, Oid } from './catalog.ts'

/**
 * The content of earlier answers, so that the next query reads changes only. An unchanged object keeps its identity,
 * and so do the unchanged parts of others: later stages find their memoized results by identity.
 */
export interface KnownObjects extends Pick<CatalogAnswer, 'server' | 'filled' | 'needy'> {
  /** The snapshot and counter from which recorded changes continue; null if only a complete comparison will do. */
  readonly since: RecordPlace | null
  readonly roles: ReadonlyMap<Oid, string>
  readonly relations: Objects<ReadRelation>
  /** Relations among them that must be read again. */
  readonly doubtful: ReadonlySet<Oid>
  readonly functions: Objects<ReadFunction>
  /** By owner: a few sample relations, which show whether REASSIGN OWNED gave them to another owner. */
  readonly witnesses: ReadonlyMap<string, readonly Oid[]>
  readonly types: ReadonlyMap<Oid, CatalogType>
  readonly schemas: Catalog['schemas']
  readonly lists: KnownLists
}

/** Lists that are always read: identical while their content is equal. */
export type KnownLists = Pick<Catalog, 'roles' | 'memberships' | 'members' | 'filled'>

/** A place in the record of changes. */
export interface RecordPlace {
  readonly snapshot: string
  readonly counter: string
}

export const nothingKnown: KnownObjects = {
  since: null,
  server: '',
  roles: new Map(),
  relations: noObjects(),
  doubtful: new Set(),
  functions: noObjects(),
  witnesses: new Map(),
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
  { relations, doubtful, functions, witnesses, types }: KnownObjects,
  since: RecordPlace,
): unknown[] => [
  [...relations.always],
  [...functions.always],
  [...types.keys()],
  since.snapshot,
  since.counter,
  [...doubtful, ...inheritedIn(relations)],
  [...witnesses.values()].flat(),
  [...witnesses].flatMap(([owner, oids]) => oids.map(() => owner)),
]

/** The record of a table does not include the tables from which it no longer inherits. */
const inheritedIn = ({ always, byOid }: KnownObjects['relations']): readonly Oid[] =>
  [...always].filter((oid) => byOid.get(oid)?.inherited === true)

/** The types that relations and functions mention. */
export const mentionedBy = (
  relations: KnownObjects['relations'],
  functions: KnownObjects['functions'],
): ReadonlySet<Oid> => new Set([...relations.mentions.keys(), ...functions.mentions.keys()])
