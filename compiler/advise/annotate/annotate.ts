import type { Diagnostic, Manifest } from '../../../runtime/contract/manifest.ts'
import type { Query } from '../../../runtime/db/connect/session.ts'
import { fieldLosses } from '../../catalog/diagnostics/diagnostics.ts'
import { readCatalog } from '../../catalog/read.ts'
import type { Catalog } from '../../catalog/catalog.ts'
import { atOnce } from '../../../runtime/lib/steps.ts'
import { annotate } from '../../comments/annotate.ts'
import type { Annotated } from '../../comments/annotated.ts'
import { buildModel } from '../../model/build.ts'
import { mergeWishes, withComments, type NewComment, type Wish } from './comments.ts'
import { fieldWishes } from './fields.ts'
import { namedDatabase, type NamedDatabase } from './in-database.ts'
import { heldIn, type Held } from './held.ts'
import { keyWishes } from './missing-keys.ts'
import { enumWishes, rootWishes, sharedTypeWishes, unspellableWishes } from './annotation.ts'
import { pluralWishes, singularWishes } from './words.ts'

/** Comments that a schema wants, so that nothing in it loses its field. */
export interface Annotation {
  readonly comments: readonly NewComment[]
  /** What collides or has no name before and after them. */
  readonly before: readonly Diagnostic[]
  readonly after: readonly Diagnostic[]
}

/** Diagnostics that a name settles. */
const settled: ReadonlySet<string> = new Set([...fieldLosses, 'enum-empty'])

interface Compiled {
  readonly annotated: Annotated
  readonly manifest: Manifest
  readonly database: NamedDatabase
  /** What has no name of its own. */
  readonly lost: () => readonly Diagnostic[]
}

function compile(catalog: Catalog): Compiled {
  const { annotated, diagnostics } = atOnce(annotate(catalog))
  const { model, told } = atOnce(buildModel(annotated))
  const { manifest } = model
  return {
    annotated,
    manifest,
    database: namedDatabase(catalog, annotated, manifest),
    lost: () => [...diagnostics, ...atOnce(told())].filter(({ code }) => settled.has(code)),
  }
}

type Pass = (compiled: Compiled, catalog: Catalog, held: Held) => readonly Wish[]

/** One after the other, so that none gives a name that another one has just given. */
const passes: readonly Pass[] = [
  ({ database, manifest }) => unspellableWishes(database, manifest),
  ({ database, manifest }, catalog, held) => sharedTypeWishes(database, catalog, manifest, held),
  ({ database, annotated, manifest }, catalog) => enumWishes(database, catalog, annotated.types, manifest),
  ({ database, manifest }, _catalog, held) => fieldWishes(database, manifest, held),
  ({ database, manifest }) => rootWishes(database, manifest),
]

/** A name may collide with another one in turn; each round names something, so there is an end. */
const mostRounds = 24

type Comments = ReadonlyMap<string, NewComment>

const isSame = (some: Comments, others: Comments): boolean =>
  [...some].every(([name, { text }]) => others.get(name)?.text === text)

/** Compiles the catalogue as it would be, and asks for names where some are missing. */
function settle(catalog: Catalog, comments: Comments, held: Held, round = 0): Comments {
  const commented = withComments(catalog, comments)
  const compiled = compile(commented)
  for (const pass of passes) {
    // A comment that cannot be read stays, and so does what it would have to say.
    const merged = mergeWishes(comments, pass(compiled, commented, held))
    if (!isSame(merged, comments) && round < mostRounds) return settle(catalog, merged, held, round + 1)
  }
  return comments
}

/** Asks for names of the catalogue as it would be with the comments. */
function wishing(
  catalog: Catalog,
  comments: Comments,
  wishes: (database: NamedDatabase, manifest: Manifest) => readonly Wish[],
): Comments {
  const { database, manifest } = compile(withComments(catalog, comments))
  return mergeWishes(comments, wishes(database, manifest))
}

/** Types in the singular first: what leads to them is called after them. */
const inWords = (catalog: Catalog, comments: Comments): Comments =>
  wishing(catalog, wishing(catalog, comments, singularWishes), pluralWishes)

/**
 * Reads the database, and compiles it with the comments that it asks for until it asks for no more. It writes nothing.
 * @param words whether types get names in the singular, and what leads to many rows one in the plural
 */
export async function annotateDatabase(query: Query, schemas: readonly string[], words = false): Promise<Annotation> {
  const catalog = await readCatalog(query, { schemas, version: null })
  const { database, manifest, lost } = compile(catalog)
  const held = heldIn(database, manifest)
  const keys = mergeWishes(new Map(), await keyWishes(query, catalog, database, manifest))
  const comments = settle(catalog, words ? inWords(catalog, keys) : keys, held)
  return {
    comments: [...comments.values()],
    before: lost(),
    after: compile(withComments(catalog, comments)).lost(),
  }
}
