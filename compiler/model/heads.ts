import { createListRecall, createRecall, sameJson } from '../../runtime/lib/recall.ts'
import { objectId } from '../../runtime/contract/object-id.ts'
import type { ObjectId } from '../../runtime/contract/manifest.ts'
import type { Annotated, AnnotatedRelation } from '../comments/types.ts'
import type { Diagnostic } from '../report/diagnostic.ts'
import { diagnose } from '../report/diagnostics.ts'
import { createGather, noted, type Noted } from '../report/noted.ts'
import { nameRelation } from '../report/object-name.ts'
import { isValidName, typeName } from './names.ts'
import { inOrder, type Scope, type ServedSchema } from './scope.ts'

/**
 * What other relations see of one. It is the same object for as long as it says the same, so that what changes behind
 * it changes nothing elsewhere.
 */
export interface Face extends Pick<AnnotatedRelation, 'primaryKey' | 'uniques' | 'identifying' | 'rowSecurity'> {
  readonly id: ObjectId
  /** Base name B of spec/graphql.md 2.2. */
  readonly name: string
  readonly schema: ServedSchema
  /** Key columns in node-id order; empty when there is no key. */
  readonly key: readonly string[]
}

/** A relation that has a place in the manifest, before its fields are known. */
export interface Head extends Pick<Face, 'id' | 'name' | 'schema' | 'key'> {
  readonly relation: AnnotatedRelation
  readonly face: Face
}

/** Relations of the served schemas with a valid base name, in manifest order (spec/graphql.md 1.2). */
export const buildHeads = (scope: Scope, { relations }: Annotated): Noted<readonly Head[]> =>
  gatherHeads(
    scope.schemas,
    recallHeads(scope.schemas, ordered(scope, relations), [], (relation) => {
      const schema = scope.schemas.get(relation.schema)
      return schema === undefined ? noted(null) : recallHead(relation, [schema], () => buildHead(relation, schema))
    }),
  )

const recallHeads = createListRecall<AnnotatedRelation, Noted<Head | null>>()
const recallHead = createRecall<Noted<Head | null>>()
const gatherHeads = createGather<Head>()

const recallNames = createListRecall<AnnotatedRelation, ObjectId>()
const recallPlaces = createRecall<readonly number[]>()

/** The order depends on names alone, which seldom change. */
function ordered(scope: Scope, relations: readonly AnnotatedRelation[]): readonly AnnotatedRelation[] {
  const names = recallNames(scope.schemas, relations, [], ({ schema, name }) => objectId(schema, name))
  const places = recallPlaces(scope.schemas, [names], () => {
    const all = relations.map(({ schema, name }, place) => ({ schema, name, place }))
    return inOrder(scope, all).map(({ object }) => object.place)
  })
  return places.flatMap((place) => relations[place] ?? [])
}

function buildHead(relation: AnnotatedRelation, schema: ServedSchema): Noted<Head | null> {
  const object = nameRelation(relation)
  const name = typeName(relation.settings.name, relation.name, schema.inflects)
  if (!isValidName(name)) {
    return noted(null, [diagnose('name-unusable', object, { name, what: 'it has no type in the API' })])
  }
  const key = readKey(relation, object)
  const { primaryKey, uniques, identifying, rowSecurity } = relation
  const own = { id: objectId(relation.schema, relation.name), name, schema, key: key.value }
  const face = recallFace(uniques, [relation, schema], () => ({
    ...own,
    primaryKey,
    uniques,
    identifying,
    rowSecurity,
  }))
  return noted({ ...own, relation, face }, key.diagnostics)
}

/** By the list of unique keys, which is the relation's own and stays as long as it says the same. */
const recallFace = createRecall<Face>(sameJson)

/** The real key counts before the comment's; one unknown column makes the comment's key void (spec/graphql.md 1.2). */
function readKey(relation: AnnotatedRelation, object: string): Noted<readonly string[]> {
  const declared = relation.settings.primary_key_columns
  if (relation.primaryKey !== null) {
    return noted(relation.primaryKey, declared === null ? [] : [diagnose('key-ignored', object, {})])
  }
  const columns = [...new Set(declared ?? [])]
  const unknown = columns.filter((name) => !relation.columns.some((column) => column.name === name))
  if (unknown.length > 0) {
    return noted(
      [],
      unknown.map((column) => diagnose('key-column-unknown', object, { column })),
    )
  }
  return noted(columns, columns.length > 0 ? [] : [tellNoKey(relation, object)])
}

const tellNoKey = (relation: AnnotatedRelation, object: string): Diagnostic =>
  diagnose('no-key', object, { view: relation.kind === 'v' || relation.kind === 'm' })
