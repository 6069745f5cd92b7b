import { additions, commentKeys } from '../../../additions/table.ts'
import type { Diagnostic, Manifest, EntityFacts } from '../../../../runtime/contract/manifest.ts'
import type { Query } from '../../../../runtime/db/connect/session.ts'
import { fieldLosses } from '../../../catalog/diagnostics/diagnostics.ts'
import { readCatalog } from '../../../catalog/read.ts'
import type { Catalog } from '../../../catalog/catalog.ts'
import { atOnce, groupBy } from '../../../../runtime/lib/steps.ts'
import { annotate } from '../../../comments/annotate.ts'
import type { Annotated } from '../../../comments/annotated.ts'
import { buildModel } from '../../../model/build.ts'
import { mergeWishes, withComments, type NewComment, type Wish } from './comments.ts'
import { namedDatabase, type NamedDatabase } from './in-database.ts'
import { heldIn, type Held, fieldClaims, type FieldClaim, fieldNames } from './claims.ts'
import { keyWishes } from './missing-keys.ts'
import { enumWishes, rootWishes, sharedTypeWishes, unspellableWishes } from './annotation.ts'
import { pluralWishes, singularWishes } from './words.ts'

/** The comments that a schema needs so that no object loses its field. */
export interface Annotation {
  readonly comments: readonly NewComment[]
  /** Collisions and missing names, before and after them. */
  readonly before: readonly Diagnostic[]
  readonly after: readonly Diagnostic[]
}

/** Diagnostics that a name resolves. */
const settled: ReadonlySet<string> = new Set([...fieldLosses, 'enum-empty'])

interface Compiled {
  readonly annotated: Annotated
  readonly manifest: Manifest
  readonly database: NamedDatabase
  /** Objects without a name. */
  readonly lost: () => readonly Diagnostic[]
}

function compile(catalog: Catalog): Compiled {
  const { annotated, diagnostics } = atOnce(annotate(catalog, commentKeys))
  const { model, diagnose } = atOnce(buildModel(annotated, additions))
  const { manifest } = model
  return {
    annotated,
    manifest,
    database: namedDatabase(catalog, annotated, manifest),
    lost: () => [...diagnostics, ...atOnce(diagnose())].filter(({ code }) => settled.has(code)),
  }
}

type Pass = (compiled: Compiled, catalog: Catalog, held: Held) => readonly Wish[]

/** Sequential, so that no name is given twice. */
const passes: readonly Pass[] = [
  ({ database, manifest }) => unspellableWishes(database, manifest),
  ({ database, manifest }, catalog, held) => sharedTypeWishes(database, catalog, manifest, held),
  ({ database, annotated, manifest }, catalog) => enumWishes(database, catalog, annotated.types, manifest),
  ({ database, manifest }, _catalog, held) => fieldWishes(database, manifest, held),
  ({ database, manifest }) => rootWishes(database, manifest),
]

/** A new name may collide in turn; each round names something, so the rounds end. */
const mostRounds = 24

type Comments = ReadonlyMap<string, NewComment>

const hasSameTexts = (some: Comments, others: Comments): boolean =>
  [...some].every(([name, { text }]) => others.get(name)?.text === text)

/** Compiles the resulting catalogue, and suggests missing names. */
function settle(catalog: Catalog, comments: Comments, held: Held, round = 0): Comments {
  const commented = withComments(catalog, comments)
  const compiled = compile(commented)
  for (const pass of passes) {
    // A comment that cannot be read stays unchanged, and its wishes are dropped.
    const merged = mergeWishes(comments, pass(compiled, commented, held))
    if (!hasSameTexts(merged, comments) && round < mostRounds) return settle(catalog, merged, held, round + 1)
  }
  return comments
}

function wishing(
  catalog: Catalog,
  comments: Comments,
  wishes: (database: NamedDatabase, manifest: Manifest) => readonly Wish[],
): Comments {
  const { database, manifest } = compile(withComments(catalog, comments))
  return mergeWishes(comments, wishes(database, manifest))
}

/** Types in the singular first: fields are named after them. */
const inWords = (catalog: Catalog, comments: Comments): Comments =>
  wishing(catalog, wishing(catalog, comments, singularWishes), pluralWishes)

/**
 * Reads the database, and compiles it with the suggested comments until no more are needed. It writes nothing.
 * @param words whether types get names in the singular, and fields of many rows names in the plural
 */
export async function annotateDatabase(query: Query, schemas: readonly string[], words = false): Promise<Annotation> {
  const catalog = await readCatalog(query, { schemas, version: null })
  const { database, manifest, lost } = compile(catalog)
  const held = heldIn(database, manifest)
  const keys = mergeWishes(new Map(), await keyWishes(query, catalog, database, manifest))
  const comments = settle(catalog, words ? inWords(catalog, keys) : keys, held)
  return { comments: [...comments.values()], before: lost(), after: compile(withComments(catalog, comments)).lost() }
}

/** Fields that two parts of one type claim: all except the present one get free names. */
const fieldWishes = (database: NamedDatabase, manifest: Manifest, held: Held): readonly Wish[] =>
  manifest.entities.flatMap((entity) => {
    const taken = new Set(fieldNames(entity))
    return [...groupBy(fieldClaims(database, entity), ({ field }) => field).values()]
      .flatMap((group) => losers(group, entity, held))
      .flatMap(({ rename }) => {
        const wish = rename?.((name) => !taken.has(name))
        if (wish === undefined) return []
        for (const name of Object.values(wish.settings)) taken.add(String(name))
        return [wish]
      })
  })

/** The field stays with its original owner, else with the last one, as it is served. */
function losers(group: readonly FieldClaim[], { id }: EntityFacts, held: Held): readonly FieldClaim[] {
  const holder = group.find(({ object, field }) => held.field(id, field) === object) ?? group.at(-1)
  return group.filter((claim) => claim !== holder)
}
