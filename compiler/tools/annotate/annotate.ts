import type { Diagnostic, Manifest } from '../../../runtime/contract/manifest.ts'
import type { Query } from '../../../runtime/db/connect/session.ts'
import { readCatalog } from '../../catalog/read.ts'
import type { Catalog } from '../../catalog/types.ts'
import { atOnce } from '../../../runtime/lib/steps.ts'
import { annotate } from '../../comments/annotate.ts'
import { buildModel } from '../../model/build.ts'
import { mergeWishes, withComments, type NewComment, type Wish } from './comments.ts'
import { fieldWishes } from './fields.ts'
import { namedDatabase, type NamedDatabase } from './database.ts'
import { keyWishes } from './keys.ts'
import { enumWishes, rootWishes, sharedTypeWishes, unspellableWishes } from './types.ts'
import { pluralWishes, singularWishes } from './words.ts'

/** Comments that a schema wants, so that nothing in it loses its field. */
export interface Annotation {
  readonly comments: readonly NewComment[]
  /** What collides or has no name before and after them. */
  readonly before: readonly Diagnostic[]
  readonly after: readonly Diagnostic[]
}

/** Diagnostics that a name settles. */
const settled: ReadonlySet<string> = new Set([
  'field-taken',
  'name-taken',
  'name-unusable',
  'node-id-kept',
  'label-unusable',
  'enum-empty',
])

interface Look {
  readonly lost: readonly Diagnostic[]
  readonly wishes: readonly Wish[]
}

/** Compiles the catalogue as it would be, and asks for names where some are missing. */
function lookAt(catalog: Catalog): Look {
  const { annotated, diagnostics } = atOnce(annotate(catalog))
  const { model, told } = atOnce(buildModel(annotated))
  const database = namedDatabase(catalog, annotated, model.manifest)
  return {
    lost: [...diagnostics, ...atOnce(told())].filter(({ code }) => settled.has(code)),
    wishes: [
      ...unspellableWishes(database),
      ...sharedTypeWishes(database, catalog, model.manifest),
      ...enumWishes(database, catalog, annotated.types),
      ...fieldWishes(database, model.manifest),
      ...rootWishes(database, model.manifest),
    ],
  }
}

/** A name may collide with another one in turn; each round names something, so there is an end. */
const mostRounds = 12

function settle(
  catalog: Catalog,
  comments: ReadonlyMap<string, NewComment>,
  round = 0,
): ReadonlyMap<string, NewComment> {
  const { wishes } = lookAt(withComments(catalog, comments))
  if (wishes.length === 0 || round === mostRounds) return comments
  return settle(catalog, mergeWishes(comments, wishes), round + 1)
}

/** Asks for names of the catalogue as it would be with the comments. */
function wishing(
  catalog: Catalog,
  comments: ReadonlyMap<string, NewComment>,
  wishes: (database: NamedDatabase, manifest: Manifest) => readonly Wish[],
): ReadonlyMap<string, NewComment> {
  const commented = withComments(catalog, comments)
  const { annotated } = atOnce(annotate(commented))
  const { manifest } = atOnce(buildModel(annotated)).model
  return mergeWishes(comments, wishes(namedDatabase(commented, annotated, manifest), manifest))
}

/** Types in the singular first: what leads to them is called after them. */
const inWords = (catalog: Catalog, comments: ReadonlyMap<string, NewComment>): ReadonlyMap<string, NewComment> =>
  wishing(catalog, wishing(catalog, comments, singularWishes), pluralWishes)

/**
 * Reads the database, and compiles it with the comments that it asks for until it asks for no more. It writes nothing.
 * @param words whether types get names in the singular, and what leads to many rows one in the plural
 */
export async function annotateDatabase(query: Query, schemas: readonly string[], words = false): Promise<Annotation> {
  const catalog = await readCatalog(query, { schemas, version: null })
  const { annotated } = atOnce(annotate(catalog))
  const { manifest } = atOnce(buildModel(annotated)).model
  const keys = mergeWishes(new Map(), await keyWishes(query, catalog, namedDatabase(catalog, annotated, manifest)))
  const comments = settle(catalog, words ? inWords(catalog, keys) : keys)
  return {
    comments: [...comments.values()],
    before: lookAt(catalog).lost,
    after: lookAt(withComments(catalog, comments)).lost,
  }
}
