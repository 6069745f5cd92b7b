import { compareBytes } from '../../runtime/lib/byte-order.ts'
import { share } from '../../runtime/lib/share.ts'
import type { CatalogAnswer } from './decode.ts'
import { mentionedBy, without, type KnownObjects } from './known.ts'
import type { Catalog, CatalogFunction, CatalogType, Oid } from './types.ts'

/** What is known with the answer. */
export function learn(known: KnownObjects, answer: CatalogAnswer): KnownObjects {
  const gone = (kind: 'relation' | 'function'): ReadonlySet<Oid> =>
    new Set(answer.gone.filter((item) => item.kind === kind).map(({ oid }) => oid))
  const relations = new Map(without(known.relations, gone('relation')))
  const functions = new Map(without(known.functions, gone('function')))
  for (const read of answer.relations) relations.set(read.object.oid, keep(relations.get(read.object.oid), read))
  for (const read of answer.functions) functions.set(read.object.oid, keep(functions.get(read.object.oid), read))
  const { snapshot, counter } = answer
  const touched = new Set(answer.touched)
  const renew: typeof renewed = known.since === null ? (_, now) => now : renewed
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
    doubtful: new Set(),
    filled: renew(known.filled, answer.filled, (oid) => touched.has(oid)),
    needy: renew(known.needy, answer.needy, ({ oid }) => touched.has(oid)),
  }
}

/** A list of which an answer holds what is about the objects that were touched. */
const renewed = <T>(before: readonly T[], now: readonly T[], isTouched: (item: T) => boolean): readonly T[] => [
  ...before.filter((item) => !isTouched(item)),
  ...now,
]

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

const needs = ({ needy }: KnownObjects, what: KnownObjects['needy'][number]['kind']): boolean =>
  needy.some(({ kind }) => kind === what)

function leavesOf(known: KnownObjects): Pick<Catalog, 'leaves'> {
  const leaves = { settings: needs(known, 'settings'), session: needs(known, 'session') }
  return leaves.settings || leaves.session ? { leaves } : {}
}

/** What an answer makes of what is known with it. */
export const catalogOf = (
  known: KnownObjects,
  { version, serverVersion, databaseOwner, roles, memberships, typeSchemas, strays, members }: CatalogAnswer,
): Catalog => ({
  version,
  serverVersion,
  databaseOwner,
  readsClaims: needs(known, 'claims'),
  ...leavesOf(known),
  schemas: known.schemas,
  roles: roles.map(({ name, superuser, inherit, bypassRls }) => ({ name, superuser, inherit, bypassRls })),
  memberships,
  relations: [...known.relations.values()].filter(({ served }) => served).map(({ object }) => object),
  types: [...known.types.values()],
  ...typeSchemasOf(known, typeSchemas),
  functions: Array.from(known.functions.values(), ({ object }) => object),
  ...(strays.length > 0 && { strays }),
  ...(known.filled.length > 0 && { filled: [...known.filled].sort((a, b) => Number(a) - Number(b)) }),
  ...(members.length > 0 && { members }),
})
