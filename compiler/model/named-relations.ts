import type { Memo } from '../../runtime/lib/memo/memo.ts'
import type { Steps } from '../../runtime/lib/steps.ts'
import { objectId } from '../../runtime/contract/facts.ts'
import type { Diagnostic, ObjectId } from '../../runtime/contract/manifest.ts'
import { askedOf, type AskedAddition } from '../comments/additions.ts'
import type { AnnotatedRelation } from '../comments/annotated.ts'
import { notNullKey, isIdentified, nameRelation } from '../catalog/catalog.ts'
import { diagnose, collectFollowed, withDiagnostics, type WithDiagnostics } from '../catalog/diagnostics/diagnostics.ts'
import { isValidName, typeNameOf } from './names.ts'
import { inOrder, type ModelScope, type ServedSchema } from './scope.ts'

/**
 * The part of a relation that other relations depend on. It keeps its identity while it is equal, so that other changes
 * of the relation change nothing elsewhere.
 */
export interface RelationOutline extends Pick<
  AnnotatedRelation,
  'primaryKey' | 'uniques' | 'identifying' | 'rowSecurity'
> {
  readonly id: ObjectId
  /** Base name B of spec/graphql.md 2.2. */
  readonly name: string
  readonly schema: ServedSchema
  /** Key columns in node-id order; empty without a key. */
  readonly key: readonly string[]
  /** Nullable columns of the key: a row with a null there is invisible. */
  readonly looseKey: readonly string[]
  /** Whether the rows that its foreign keys refer to are related with each other (`OutlineAddition`). */
  readonly crosses: boolean
  /** Whether existing rows may be hidden (`OutlineAddition`). */
  readonly hidesRows: boolean
  /** Further arguments of connections of it. */
  readonly rowArguments: readonly string[]
}

export interface OutlineAddition extends AskedAddition {
  /** Relations with its setting connect the rows that their foreign keys refer to. */
  readonly crosses?: true
  /** Relations with its setting may hide rows that are there. */
  readonly hidesRows?: true
  /** Names of further arguments of connections of such relations. */
  readonly rowArguments?: readonly string[]
}

/** A relation in the manifest, before its fields are known. */
export interface NamedRelation extends Pick<RelationOutline, 'id' | 'name' | 'schema' | 'key'> {
  readonly relation: AnnotatedRelation
  readonly outline: RelationOutline
}

const namedIn = ({ value }: WithDiagnostics<NamedRelation | null>): NamedRelation | null => value

/** Relations of the served schemas with a valid base name, in manifest order (spec/graphql.md 1.2). */
export function* nameRelations(
  memo: Memo,
  schemas: readonly ServedSchema[],
  scope: ModelScope,
  relations: readonly AnnotatedRelation[],
  additions: readonly OutlineAddition[],
): Steps<WithDiagnostics<readonly NamedRelation[]>> {
  const places = memo.one(placesInOrder, schemas, yield* memo.map(fullName, relations))
  const ordered = memo.one(inPlaces, places, relations)
  const list = yield* memo.each(namedRelation, ordered, memo, scope, additions)
  return collectFollowed(memo, list, yield* memo.map(namedIn, list))
}

/** The list itself if it is in order already. */
const inPlaces = <T>(places: readonly number[] | null, items: readonly T[]): readonly T[] =>
  places === null ? items : places.map((place) => items[place] as T)

/** Names in Postgres contain no zero byte. */
const fullName = ({ schema, name }: AnnotatedRelation): string => `${schema}\0${name}`

/** Null: they are in order. It depends on names alone, which seldom change. */
function placesInOrder(schemas: readonly ServedSchema[], names: readonly string[]): readonly number[] | null {
  const all = names.map((full, place) => {
    const [schema = '', name = ''] = full.split('\0')
    return { schema, name, place }
  })
  const places = inOrder(schemas, all).map(({ object }) => object.place)
  return places.length === names.length && places.every((place, index) => place === index) ? null : places
}

function namedRelation(
  relation: AnnotatedRelation,
  memo: Memo,
  { schemas }: ModelScope,
  additions: readonly OutlineAddition[],
): WithDiagnostics<NamedRelation | null> {
  const schema = schemas.get(relation.schema)
  if (schema === undefined) return withDiagnostics(null)
  const object = nameRelation(relation)
  const name = typeNameOf(relation.settings.name, relation.name, schema.inflects)
  if (!isValidName(name)) {
    return withDiagnostics(null, [diagnose('name-unusable', object, { name, what: 'it has no type in the API' })])
  }
  const key = readKey(relation, object)
  const own = { id: objectId(relation.schema, relation.name), name, schema, key: key.value }
  return withDiagnostics(
    { relation, outline: memo.same(outlineOf, relation.uniques, relation, own, additions), ...own },
    key.diagnostics,
  )
}

/** By the list of unique keys, which is the relation's own and keeps its identity while it is equal. */
const outlineOf = (
  uniques: RelationOutline['uniques'],
  { primaryKey, identifying, rowSecurity, settings, columns }: AnnotatedRelation,
  own: Pick<RelationOutline, 'id' | 'name' | 'schema' | 'key'>,
  additions: readonly OutlineAddition[],
): RelationOutline => {
  const asked = askedOf({ settings }, own.schema, additions)
  return {
    primaryKey,
    uniques,
    identifying,
    rowSecurity,
    looseKey: own.key.filter((name) => columns.every((column) => column.name !== name || !column.notNull)),
    crosses: asked.some((one) => one.crosses),
    hidesRows: asked.some((one) => one.hidesRows),
    rowArguments: asked.flatMap((one) => one.rowArguments ?? []),
    // Last: see comments/annotate.ts.
    ...own,
  }
}

/** The real key precedes the comment's; one unknown column invalidates the comment's key (spec/graphql.md 1.2). */
function readKey(relation: AnnotatedRelation, object: string): WithDiagnostics<readonly string[]> {
  const declared = relation.settings.primary_key_columns
  if (relation.primaryKey !== null) {
    return withDiagnostics(relation.primaryKey, [
      ...(declared === null ? [] : [diagnose('key-ignored', object, {})]),
      ...(isIdentified(relation, relation.primaryKey)
        ? []
        : [diagnose('key-inherited', object, { columns: relation.primaryKey })]),
    ])
  }
  const columns = [...new Set(declared ?? [])]
  const unknown = columns.filter((name) => !relation.columns.some((column) => column.name === name))
  if (unknown.length > 0) {
    return withDiagnostics(
      [],
      unknown.map((column) => diagnose('key-column-unknown', object, { column })),
    )
  }
  // The owner cannot add a key to an extension's relation.
  const isSaid = columns.length === 0 && relation.ofExtension === undefined
  return withDiagnostics(columns, isSaid ? [noKeyDiagnostic(relation, object)] : [])
}

const noKeyDiagnostic = (relation: AnnotatedRelation, object: string): Diagnostic =>
  diagnose('no-key', object, {
    view: relation.kind === 'v' || relation.kind === 'm',
    columns: notNullKey(relation) ?? ['...'],
  })
