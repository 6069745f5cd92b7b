import type { Memo } from '../../runtime/lib/memo/memo.ts'
import type { Steps } from '../../runtime/lib/steps.ts'
import type { CatalogAnswer, ReadRelation } from './decode.ts'
import { nothingKnown, type KnownObjects } from './known.ts'
import { catalogOf, learn } from './learn.ts'
import type { Catalog, CatalogRelation, Oid } from './catalog.ts'

/**
 * Joins an answer to the known state at the time of the question. An object's hash does not cover the names of
 * referenced objects; if such a name changed, fewer objects are known than assumed: the question must be asked again
 * with the rest.
 */
export type JoinOutcome =
  | { readonly kind: 'whole'; readonly known: KnownObjects; readonly catalog: Catalog }
  | { readonly kind: 'ask again'; readonly known: KnownObjects }

export function* join(memo: Memo, known: KnownObjects, answer: CatalogAnswer): Steps<JoinOutcome> {
  if (!sharesNames(known, answer)) return { kind: 'ask again', known: nothingKnown }
  if (!answer.isComplete) return { kind: 'ask again', known: { ...known, since: null } }
  const doubtful = known === nothingKnown ? nothingKnown.doubtful : doubtfulIn(known, answer)
  if (doubtful.size > 0) return { kind: 'ask again', known: { ...known, doubtful } }
  const next = yield* learn(known, answer)
  yield
  return { kind: 'whole', known: next, catalog: yield* catalogOf(memo, next, answer) }
}

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

/** Known relations with a foreign key to a renamed relation or column. */
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
