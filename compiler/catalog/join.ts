import type { Memo } from '../../runtime/lib/memo/memo.ts'
import type { Steps } from '../../runtime/lib/steps.ts'
import type { CatalogAnswer, ReadRelation, ReadFunction } from './decode.ts'
import {
  nothingKnown,
  type KnownObjects,
  mentionedBy,
  type KnownLists,
  follow,
  type KindOfObject,
  type RestOfAnswer,
} from './known.ts'
import type { Catalog, CatalogRelation, Oid, CatalogFunction, CatalogType } from './catalog.ts'
import { bySchemaAndName, compareBytes } from '../../runtime/lib/text.ts'
import { share } from '../../runtime/lib/memo/differences.ts'
import { present } from './diagnostics/diagnostics.ts'

/**
 * Joins an answer to the known state at the time of the question. An object's hash does not cover the names of
 * referenced objects: if one of these was renamed, the question is asked again with fewer known objects.
 *
 *   createCatalogReader ─ wholeValues: hashes, or recordedValues: since, doubtful, ownerSamples ─> Postgres
 *   Postgres ─ CatalogAnswer: changed objects, `touched`, `gone`, all short lists ─> join(known, answer)
 *     completed: a brief answer may not be all               ask again: known, rest null
 *     sharesNames: server, role or type has another name     ask again: nothingKnown
 *     isComplete: the record of changes has a gap            ask again: known, since null
 *     doubtfulIn: refers to a renamed object, lost sequence  ask again: known, these as `doubtful`
 *     otherwise: learn replaces and removes                  whole: known, since = snapshot and counter
 */
export type JoinOutcome =
  | { readonly kind: 'whole'; readonly known: KnownObjects; readonly catalog: Catalog }
  | { readonly kind: 'ask again'; readonly known: KnownObjects }

export function* join(memo: Memo, known: KnownObjects, given: CatalogAnswer): Steps<JoinOutcome> {
  if (known.rest !== null && !given.isComplete)
    return { kind: 'ask again', known: { ...known, since: null, rest: null } }
  const answer = known.rest === null ? given : completed(known, known.rest, given)
  if (answer === null) return { kind: 'ask again', known: { ...known, rest: null } }
  if (!sharesNames(known, answer)) return { kind: 'ask again', known: nothingKnown }
  if (!answer.isComplete) return { kind: 'ask again', known: { ...known, since: null } }
  const doubtful = known === nothingKnown ? nothingKnown.doubtful : doubtfulIn(known, answer)
  if (doubtful.size > 0) return { kind: 'ask again', known: { ...known, doubtful } }
  const next = yield* learn(known, answer)
  yield
  return { kind: 'whole', known: next, catalog: yield* catalogOf(memo, next, answer) }
}

/**
 * A brief answer with what it leaves out, which is as it was: all that is recorded are known relations, and everything that other
 * objects take from them is the same (names, owners, types). Names and rights of roles are part of the version. Null: it may not be.
 */
function completed(known: KnownObjects, rest: RestOfAnswer, answer: CatalogAnswer): CatalogAnswer | null {
  const read = new Map(answer.relations.map((relation) => [relation.object.oid, relation]))
  const isAlone = (oid: Oid): boolean => {
    const [before, now] = [known.relations.byOid.get(oid)?.object, read.get(oid)]
    return (
      before !== undefined &&
      now !== undefined &&
      before.owner === now.object.owner &&
      renamedColumns(before, now.object).length === 0 &&
      now.mentions.every((type) => known.types.has(type))
    )
  }
  const isAll = known.server === answer.server && rolesIn(rest) === rolesIn(answer) && answer.touched.every(isAlone)
  return isAll ? { ...answer, ...rest, version: answer.version, types: [...known.types.values()] } : null
}

/** The part of the version that roles decide (runtime/db/check/version.ts). */
const rolesIn = ({ version }: Pick<CatalogAnswer, 'version'>): string | undefined => version?.split('.')[1]

const doubtfulIn = (known: KnownObjects, answer: CatalogAnswer): ReadonlySet<Oid> =>
  new Set([...referringToRenamed(known, answer), ...formerOwners(known, answer)])

/** Grants contain role names, and columns and arguments type names. An empty cache matches any answer. */
function sharesNames(known: KnownObjects, answer: CatalogAnswer): boolean {
  if (known === nothingKnown) return true
  const roles = new Map(answer.roles.map(({ oid, name }) => [oid, name]))
  return (
    known.server === answer.server &&
    [...known.roles].every(([oid, name]) => roles.get(oid) === name) &&
    answer.types.every(({ oid, text }) => (known.types.get(oid)?.text ?? text) === text)
  )
}

/** Known relations that owned a sequence which changed or was dropped: its event names the present owner, or none. */
function formerOwners(known: KnownObjects, answer: CatalogAnswer): readonly Oid[] {
  const relations = new Set(answer.relations.map(({ object }) => object.oid))
  const others = new Set(answer.touched.filter((oid) => !relations.has(oid)))
  // Most changes concern no other relation, and need no search.
  if (others.size === 0) return []
  const read = readIn(answer)
  return known.relations.items
    .filter(({ object, sequences }) => sequences.some((oid) => others.has(oid)) && !read.has(object.oid))
    .map(({ object }) => object.oid)
}

const readIn = ({ relations, gone }: CatalogAnswer): ReadonlySet<Oid> =>
  new Set([...relations.map(({ object }) => object.oid), ...gone.map(({ oid }) => oid)])

function referringToRenamed(known: KnownObjects, answer: CatalogAnswer): ReadonlySet<Oid> {
  const renamed = renamedIn(known, answer)
  if (renamed.size === 0) return new Set()
  const read = readIn(answer)
  const refers = ({ object }: ReadRelation): boolean =>
    object.foreignKeys.some(({ foreignSchema, foreignRelation, foreignColumns }) =>
      renamed.get(nameKey(foreignSchema, foreignRelation))?.some((column) => foreignColumns.includes(column)),
    )
  return new Set(
    known.relations.items
      .filter((relation) => !read.has(relation.object.oid) && refers(relation))
      .map(({ object }) => object.oid),
  )
}

/**
 * Columns whose qualified names changed, by the name of the relation. A missing relation that is still referenced has
 * moved to an unserved schema: relations that refer to a dropped one have changed themselves.
 */
function renamedIn(known: KnownObjects, { relations, gone }: CatalogAnswer): ReadonlyMap<string, readonly string[]> {
  const renamed = new Map<string, readonly string[]>()
  const note = (oid: Oid, now: CatalogRelation | null): void => {
    const before = known.relations.byOid.get(oid)?.object
    const columns = before === undefined ? [] : renamedColumns(before, now)
    if (before !== undefined && columns.length > 0) renamed.set(nameKey(before.schema, before.name), columns)
  }
  for (const { object } of relations) note(object.oid, object)
  for (const { kind, oid } of gone) if (kind === 'relation') note(oid, null)
  return renamed
}

/** Names in Postgres contain no zero byte. */
const nameKey = (schema: string, name: string): string => `${schema}\0${name}`

/** All of them if the relation was renamed. */
function renamedColumns(before: CatalogRelation, now: CatalogRelation | null): readonly string[] {
  const moved = before.schema !== now?.schema || before.name !== now.name
  const names = new Map(now?.columns.map(({ number, name }) => [number, name]))
  return before.columns.flatMap(({ number, name }) => (moved || (names.get(number) ?? name) !== name ? [name] : []))
}

function* learn(known: KnownObjects, answer: CatalogAnswer): Steps<KnownObjects> {
  const gone = (kind: 'relation' | 'function'): readonly Oid[] =>
    answer.gone.filter((item) => item.kind === kind).map(({ oid }) => oid)
  const relations = yield* follow(
    relationKind,
    known.relations,
    gone('relation'),
    answer.relations.map((read) => keepObject(known.relations.byOid.get(read.object.oid), read)),
  )
  const functions = yield* follow(
    functionKind,
    known.functions,
    gone('function'),
    answer.functions.map((read) => keepObject(known.functions.byOid.get(read.object.oid), read)),
  )
  yield
  const { snapshot, counter, version, roles, memberships, members, schemas, typeSchemas, strays } = answer
  const touched = new Set(answer.touched)
  const renew: typeof renewed = known.since === null ? (_, now) => now : renewed
  const filled = renew(known.filled, answer.filled, (oid) => touched.has(oid))
  return {
    since: counter === null ? null : { snapshot, counter },
    rest:
      counter === null || version === null || strays.length > 0
        ? null
        : { version, roles, memberships, members, schemas, typeSchemas, strays },
    server: answer.server,
    roles: new Map(roles.map(({ oid, name }) => [oid, name])),
    relations,
    functions,
    ownerSamples: ownerSamplesIn(known.ownerSamples, relations, answer),
    types: typesIn(known, answer, mentionedBy(relations, functions)),
    schemas: schemas.map((schema) =>
      share(
        known.schemas.find(({ oid }) => oid === schema.oid),
        schema,
      ),
    ),
    doubtful: new Set(),
    filled,
    needy: renew(known.needy, answer.needy, ({ oid }) => touched.has(oid)),
    lists: listsOf(known, answer, filled),
  }
}

/** Two samples per owner, so that one may change alone. */
const samplesPerOwner = 2

/** Unchanged if every sample still has its owner and every owner has samples. */
function ownerSamplesIn(
  before: KnownObjects['ownerSamples'],
  { items, byOid }: KnownObjects['relations'],
  { relations }: CatalogAnswer,
): KnownObjects['ownerSamples'] {
  const isOwned = ([owner, oids]: readonly [string, readonly Oid[]]): boolean =>
    oids.every((oid) => byOid.get(oid)?.object.owner === owner)
  const isWhole = ({ object }: ReadRelation): boolean => before.get(object.owner)?.length === samplesPerOwner
  if ([...before].every(isOwned) && relations.every(isWhole)) return before
  const samples = new Map<string, Oid[]>()
  for (const { object } of items) {
    const own = samples.get(object.owner)
    if (own === undefined) samples.set(object.owner, [object.oid])
    else if (own.length < samplesPerOwner) own.push(object.oid)
  }
  return samples
}

const listsOf = (
  { lists }: KnownObjects,
  { roles, memberships, members }: CatalogAnswer,
  filled: KnownObjects['filled'],
): KnownLists => {
  const ordered = [...filled].sort((a, b) => Number(a) - Number(b))
  const sharing = <T>(before: T | undefined, now: T): T => share(before, now)
  return {
    roles: sharing(
      lists.roles,
      roles.map(({ name, superuser, inherit, bypassRls }) => ({ name, superuser, inherit, bypassRls })),
    ),
    memberships: sharing(lists.memberships, memberships),
    ...(members.length > 0 && { members: sharing(lists.members, members) }),
    ...(ordered.length > 0 && { filled: sharing(lists.filled, ordered) }),
  }
}

/** A list, updated from an answer about the changed objects. */
const renewed = <T>(before: readonly T[], now: readonly T[], isTouched: (item: T) => boolean): readonly T[] => [
  ...before.filter((item) => !isTouched(item)),
  ...now,
]

const keepObject = <T, R extends { readonly object: T }>(before: R | undefined, read: R): R => {
  const object = share(before?.object, read.object)
  return object === read.object ? read : { ...read, object }
}

const relationKind: KindOfObject<ReadRelation> = {
  order: (a, b) => bySchemaAndName(a.object, b.object),
  isAlwaysRead: ({ served, inherited }) => !served || inherited,
}

/** Defaults are printed with the names of their objects. */
const functionKind: KindOfObject<ReadFunction> = {
  order: (a, b) => bySchemaAndName(a.object, b.object) || compareBytes(inputsOf(a.object), inputsOf(b.object)),
  isAlwaysRead: ({ object }) => object.defaults !== null,
}

const inputsOf = ({ args }: CatalogFunction): string => args.map(({ typeText }) => typeText).join(', ')

/** The types that are mentioned now, every enum, and the type that identifies pg_trgm. */
function typesIn(
  known: KnownObjects,
  { types }: CatalogAnswer,
  seeds: ReadonlySet<Oid>,
): ReadonlyMap<Oid, CatalogType> {
  const all = new Map(types.map((type) => [type.oid, type]))
  const mentioned = new Set(seeds)
  for (const type of types) if (isListedEnum(type) || isTrigram(type)) mentioned.add(type.oid)
  // A Set's iterator also visits items that are added during the iteration.
  for (const oid of mentioned) {
    const type = all.get(oid)
    const further = type?.element ?? type?.base
    if (further != null) mentioned.add(further)
    for (const attribute of type?.attributes ?? []) mentioned.add(attribute.type)
  }
  const kept = types.filter(({ oid }) => mentioned.has(oid))
  return new Map(kept.map((type) => [type.oid, share(known.types.get(type.oid), type)]))
}

const isTrigram = ({ kind, name }: CatalogType): boolean => kind === 'b' && name === 'gtrgm'

const isListedEnum = ({ kind, schema }: CatalogType): boolean =>
  kind === 'e' && schema !== 'information_schema' && !schema.startsWith('pg_')

/** The answer contains more types than the mentioned ones. */
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

const servedIn = ({ served, object }: ReadRelation): CatalogRelation | null => (served ? object : null)
const functionIn = ({ object }: ReadFunction): CatalogFunction => object

function* catalogOf(
  memo: Memo,
  known: KnownObjects,
  { version, serverVersion, databaseOwner, typeSchemas, strays }: CatalogAnswer,
): Steps<Catalog> {
  const relations = yield* memo.map(servedIn, known.relations.items)
  return {
    version,
    serverVersion,
    databaseOwner,
    readsClaims: needs(known, 'claims'),
    ...leavesOf(known),
    schemas: known.schemas,
    relations: memo.of(present<CatalogRelation>, relations),
    types: [...known.types.values()],
    ...typeSchemasOf(known, typeSchemas),
    functions: yield* memo.map(functionIn, known.functions.items),
    ...(strays.length > 0 && { strays }),
    ...known.lists,
  }
}
