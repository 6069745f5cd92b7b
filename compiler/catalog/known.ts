import type { CatalogAnswer, ReadFunction, ReadRelation } from './decode.ts'
import type { Catalog, CatalogType, Oid } from './types.ts'

/**
 * The content of earlier answers, so that the next query reads changes only. An object that reads as before keeps its
 * identity, and so do the unchanged parts of another one: by identity later stages find what they made of them.
 */
export interface KnownObjects extends Pick<CatalogAnswer, 'server' | 'filled' | 'needy'> {
  /** The snapshot and counter from which recorded changes lead on; null when only a whole comparison will do. */
  readonly since: RecordPlace | null
  readonly roles: ReadonlyMap<Oid, string>
  readonly relations: ReadonlyMap<Oid, ReadRelation>
  /** Relations among them that are to be read again. */
  readonly doubtful: ReadonlySet<Oid>
  readonly functions: ReadonlyMap<Oid, ReadFunction>
  readonly types: ReadonlyMap<Oid, CatalogType>
  readonly schemas: Catalog['schemas']
}

/** A place in the record of changes. */
export interface RecordPlace {
  readonly snapshot: string
  readonly counter: string
}

export const nothingKnown: KnownObjects = {
  since: null,
  server: '',
  roles: new Map(),
  relations: new Map(),
  doubtful: new Set(),
  functions: new Map(),
  types: new Map(),
  schemas: [],
  filled: [],
  needy: [],
}

/** Parameters of the query of all, from $2 on. */
export const wholeValues = ({ relations, doubtful, functions }: KnownObjects): unknown[] => [
  ...hashesOf(doubtful.size === 0 ? relations : without(relations, doubtful)),
  ...hashesOf(functions),
  [...mentionedBy(relations, functions)],
]

export const without = <T>(objects: ReadonlyMap<Oid, T>, left: ReadonlySet<Oid>): ReadonlyMap<Oid, T> =>
  new Map([...objects].filter(([oid]) => !left.has(oid)))

const hashesOf = (objects: ReadonlyMap<Oid, { readonly hash: string }>): readonly (readonly string[])[] => [
  [...objects.keys()],
  Array.from(objects.values(), ({ hash }) => hash),
]

/** Parameters of the query of what was recorded, from $2 on. What a default calls may have another name by now. */
export const recordedValues = (
  { relations, doubtful, functions, types }: KnownObjects,
  since: RecordPlace,
): unknown[] => [
  oidsWhere(relations, ({ served }) => !served),
  oidsWhere(functions, ({ object }) => object.defaults !== null),
  [...types.keys()],
  ...placeValues(since),
  [...doubtful],
]

export const placeValues = ({ snapshot, counter }: RecordPlace): unknown[] => [snapshot, counter]

function oidsWhere<T>(objects: ReadonlyMap<Oid, T>, holds: (value: T) => boolean): readonly Oid[] {
  const found: Oid[] = []
  for (const [oid, value] of objects) if (holds(value)) found.push(oid)
  return found
}

/** The types that relations and functions mention. */
export function mentionedBy(
  relations: KnownObjects['relations'],
  functions: KnownObjects['functions'],
): ReadonlySet<Oid> {
  const seeds = new Set<Oid>()
  for (const { mentions } of relations.values()) for (const type of mentions) seeds.add(type)
  for (const { mentions } of functions.values()) for (const type of mentions) seeds.add(type)
  return seeds
}
