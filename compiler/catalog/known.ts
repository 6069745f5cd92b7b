import { compareBytes } from '../../runtime/lib/byte-order.ts'
import { share } from '../../runtime/lib/share.ts'
import type { CatalogAnswer, ReadFunction, ReadRelation } from './decode.ts'
import type { Catalog, CatalogFunction, CatalogRelation, CatalogType, Oid } from './types.ts'

/**
 * The content of earlier answers, so that the next query reads changes only. An object that reads as before keeps its
 * identity, and so do the unchanged parts of another one: by identity later stages find what they made of them.
 */
export interface KnownObjects {
  /** The snapshot and counter from which recorded changes lead on; null when only a whole comparison will do. */
  readonly since: { readonly snapshot: string; readonly counter: string } | null
  readonly server: string
  readonly roles: ReadonlyMap<Oid, string>
  readonly relations: ReadonlyMap<Oid, ReadRelation>
  readonly functions: ReadonlyMap<Oid, ReadFunction>
  readonly types: ReadonlyMap<Oid, CatalogType>
  readonly schemas: Catalog['schemas']
}

export const nothingKnown: KnownObjects = {
  since: null,
  server: '',
  roles: new Map(),
  relations: new Map(),
  functions: new Map(),
  types: new Map(),
  schemas: [],
}

/** Parameters $2 to $9 of the catalogue query. */
export const knownValues = ({ since, relations, functions }: KnownObjects): unknown[] => [
  ...hashesOf(relations),
  Array.from(relations.values(), ({ written }) => written),
  ...hashesOf(functions),
  [...mentionedBy(relations, functions)],
  since?.snapshot ?? null,
  since?.counter ?? null,
]

const hashesOf = (objects: ReadonlyMap<Oid, { readonly hash: string }>): readonly (readonly string[])[] => [
  [...objects.keys()],
  Array.from(objects.values(), ({ hash }) => hash),
]

function mentionedBy(relations: KnownObjects['relations'], functions: KnownObjects['functions']): ReadonlySet<Oid> {
  const seeds = new Set<Oid>()
  for (const { mentions } of relations.values()) for (const type of mentions) seeds.add(type)
  for (const { mentions } of functions.values()) for (const type of mentions) seeds.add(type)
  return seeds
}

/**
 * Joins an answer to what was known when it was asked for. An object's hash says nothing about the names of what it
 * refers to; when such a name changed, less is known than was believed: the question has to be asked again, with what
 * is left.
 */
export type JoinOutcome =
  | { readonly kind: 'whole'; readonly known: KnownObjects; readonly catalog: Catalog }
  | { readonly kind: 'ask again'; readonly known: KnownObjects }

export function join(known: KnownObjects, answer: CatalogAnswer): JoinOutcome {
  if (!sharesNames(known, answer)) return { kind: 'ask again', known: nothingKnown }
  const doubtful = referringToRenamed(known, answer)
  if (doubtful.size > 0) {
    return { kind: 'ask again', known: { ...known, since: null, relations: without(known.relations, doubtful) } }
  }
  const next = learn(known, answer)
  return { kind: 'whole', known: next, catalog: catalogOf(next, answer) }
}

/**
 * Names of roles stand in grants, names of types in columns and arguments. Who knows nothing shares them with
 * everybody.
 */
function sharesNames(known: KnownObjects, answer: CatalogAnswer): boolean {
  if (known === nothingKnown) return true
  const roles = new Map(answer.roles.map(({ oid, name }) => [oid, name]))
  return (
    known.server === answer.server &&
    [...known.roles].every(([oid, name]) => roles.get(oid) === name) &&
    answer.types.every(({ oid, text }) => (known.types.get(oid)?.text ?? text) === text)
  )
}

/** Known relations with a foreign key to a relation or column that has another name by now. */
function referringToRenamed(known: KnownObjects, answer: CatalogAnswer): ReadonlySet<Oid> {
  const fresh = new Set(answer.relations.map(({ object }) => object.oid))
  const renamed = new Map(
    answer.relations.flatMap(({ object }) => {
      const before = known.relations.get(object.oid)?.object
      const columns = before === undefined ? [] : renamedColumns(before, object)
      if (before === undefined || columns.length === 0) return []
      return [[nameOf(before.schema, before.name), columns] as const]
    }),
  )
  if (renamed.size === 0) return new Set()
  const refers = ({ object }: ReadRelation): boolean =>
    object.foreignKeys.some(({ foreignSchema, foreignRelation, foreignColumns }) =>
      renamed.get(nameOf(foreignSchema, foreignRelation))?.some((column) => foreignColumns.includes(column)),
    )
  return new Set([...known.relations].flatMap(([oid, read]) => (!fresh.has(oid) && refers(read) ? [oid] : [])))
}

const nameOf = (schema: string, name: string): string => JSON.stringify([schema, name])

/** Columns whose qualified names changed: all of them when the relation's did. */
function renamedColumns(before: CatalogRelation, now: CatalogRelation): readonly string[] {
  const moved = before.schema !== now.schema || before.name !== now.name
  const names = new Map(now.columns.map(({ number, name }) => [number, name]))
  return before.columns.flatMap(({ number, name }) => (moved || (names.get(number) ?? name) !== name ? [name] : []))
}

const without = <T>(objects: ReadonlyMap<Oid, T>, left: ReadonlySet<Oid>): ReadonlyMap<Oid, T> =>
  new Map([...objects].filter(([oid]) => !left.has(oid)))

function learn(known: KnownObjects, answer: CatalogAnswer): KnownObjects {
  const gone = (kind: 'relation' | 'function'): ReadonlySet<Oid> =>
    new Set(answer.gone.filter((item) => item.kind === kind).map(({ oid }) => oid))
  const relations = new Map(without(known.relations, gone('relation')))
  const functions = new Map(without(known.functions, gone('function')))
  for (const read of answer.relations) relations.set(read.object.oid, keep(relations.get(read.object.oid), read))
  for (const read of answer.functions) functions.set(read.object.oid, keep(functions.get(read.object.oid), read))
  const { snapshot, counter } = answer
  return {
    since: counter === null ? null : { snapshot, counter },
    server: answer.server,
    roles: new Map(answer.roles.map(({ oid, name }) => [oid, name])),
    relations: sorted(relations, byName),
    functions: sorted(functions, bySignature),
    types: typesIn(known, answer, mentionedBy(relations, functions)),
    schemas: answer.schemas.map((schema) =>
      share(
        known.schemas.find(({ oid }) => oid === schema.oid),
        schema,
      ),
    ),
  }
}

const keep = <T, R extends { readonly object: T }>(before: R | undefined, read: R): R => ({
  ...read,
  object: share(before?.object, read.object),
})

type Order<T> = (a: T, b: T) => number

const sorted = <R extends { readonly object: T }, T>(
  objects: ReadonlyMap<Oid, R>,
  order: Order<T>,
): ReadonlyMap<Oid, R> => new Map([...objects].sort(([, a], [, b]) => order(a.object, b.object)))

interface Named {
  readonly schema: string
  readonly name: string
}

const byName: Order<Named> = (a, b) => compareBytes(a.schema, b.schema) || compareBytes(a.name, b.name)

const bySignature: Order<CatalogFunction> = (a, b) => byName(a, b) || compareBytes(inputsOf(a), inputsOf(b))

const inputsOf = ({ args }: CatalogFunction): string => args.map(({ typeText }) => typeText).join(', ')

/** The types that are mentioned now, and every enum; the answer also holds those of objects that changed or went. */
function typesIn(
  known: KnownObjects,
  { types }: CatalogAnswer,
  seeds: ReadonlySet<Oid>,
): ReadonlyMap<Oid, CatalogType> {
  const all = new Map(types.map((type) => [type.oid, type]))
  const mentioned = new Set(seeds)
  for (const type of types) if (isListedEnum(type)) mentioned.add(type.oid)
  // A Set's iterator also visits what is added meanwhile.
  for (const oid of mentioned) {
    const type = all.get(oid)
    const further = type?.element ?? type?.base
    if (further != null) mentioned.add(further)
    for (const attribute of type?.attributes ?? []) mentioned.add(attribute.type)
  }
  const kept = types.filter(({ oid }) => mentioned.has(oid))
  return new Map(kept.map((type) => [type.oid, share(known.types.get(type.oid), type)]))
}

const isListedEnum = ({ kind, schema }: CatalogType): boolean =>
  kind === 'e' && schema !== 'information_schema' && !schema.startsWith('pg_')

/** The answer's types are more than those that are mentioned. */
function typeSchemasOf({ types }: KnownObjects, all: CatalogAnswer['typeSchemas']): Pick<Catalog, 'typeSchemas'> {
  const mentioned = new Set(Array.from(types.values(), ({ schema }) => schema))
  const typeSchemas = all.filter(({ name }) => mentioned.has(name))
  return typeSchemas.length > 0 ? { typeSchemas } : {}
}

const catalogOf = (
  known: KnownObjects,
  {
    version,
    serverVersion,
    databaseOwner,
    readsClaims,
    leaves,
    roles,
    memberships,
    typeSchemas,
    strays,
    filled,
    members,
  }: CatalogAnswer,
): Catalog => ({
  version,
  serverVersion,
  databaseOwner,
  readsClaims,
  ...(leaves !== null && { leaves }),
  schemas: known.schemas,
  roles: roles.map(({ name, superuser, inherit, bypassRls }) => ({ name, superuser, inherit, bypassRls })),
  memberships,
  relations: [...known.relations.values()].filter(({ served }) => served).map(({ object }) => object),
  types: [...known.types.values()],
  ...typeSchemasOf(known, typeSchemas),
  functions: Array.from(known.functions.values(), ({ object }) => object),
  ...(strays.length > 0 && { strays }),
  ...(filled.length > 0 && { filled }),
  ...(members.length > 0 && { members }),
})
