import type { Memo } from '../../runtime/lib/memo.ts'
import { objectId } from '../../runtime/contract/object-id.ts'
import type { ObjectId } from '../../runtime/contract/manifest.ts'
import type { Annotated, AnnotatedRelation } from '../comments/types.ts'
import type { Diagnostic } from '../report/diagnostic.ts'
import { diagnose } from '../report/diagnostics.ts'
import { gatherPresent, noted, type Noted } from '../report/noted.ts'
import { nameRelation } from '../report/object-name.ts'
import { isValidName, typeNameOf } from './names.ts'
import { inOrder, type ModelScope, type ServedSchema } from './scope.ts'

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
export function buildHeads(
  memo: Memo,
  schemas: readonly ServedSchema[],
  scope: ModelScope,
  { relations }: Annotated,
): Noted<readonly Head[]> {
  const places = memo.one(placesInOrder, schemas, memo.map(fullName, relations))
  const ordered = places.flatMap((place) => relations[place] ?? [])
  return gatherPresent(memo.each(buildHead, ordered, memo, scope))
}

/** No name of Postgres holds a zero byte. */
const fullName = ({ schema, name }: AnnotatedRelation): string => `${schema}\0${name}`

/** The order depends on names alone, which seldom change. */
function placesInOrder(schemas: readonly ServedSchema[], names: readonly string[]): readonly number[] {
  const all = names.map((full, place) => {
    const [schema = '', name = ''] = full.split('\0')
    return { schema, name, place }
  })
  return inOrder(schemas, all).map(({ object }) => object.place)
}

function buildHead(relation: AnnotatedRelation, memo: Memo, { schemas }: ModelScope): Noted<Head | null> {
  const schema = schemas.get(relation.schema)
  if (schema === undefined) return noted(null)
  const object = nameRelation(relation)
  const name = typeNameOf(relation.settings.name, relation.name, schema.inflects)
  if (!isValidName(name)) {
    return noted(null, [diagnose('name-unusable', object, { name, what: 'it has no type in the API' })])
  }
  const key = readKey(relation, object)
  const own = { id: objectId(relation.schema, relation.name), name, schema, key: key.value }
  return noted({ ...own, relation, face: memo.same(faceOf, relation.uniques, relation, own) }, key.diagnostics)
}

/** By the list of unique keys, which is the relation's own and stays as long as it says the same. */
const faceOf = (
  uniques: Face['uniques'],
  { primaryKey, identifying, rowSecurity }: AnnotatedRelation,
  own: Omit<Face, 'primaryKey' | 'uniques' | 'identifying' | 'rowSecurity'>,
): Face => ({ ...own, primaryKey, uniques, identifying, rowSecurity })

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
