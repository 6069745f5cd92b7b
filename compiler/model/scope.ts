import { compareBytes } from '../../runtime/lib/byte-order.ts'
import { groupBy } from '../../runtime/lib/group-by.ts'
import { once } from '../../runtime/lib/once.ts'
import { createRecall, type Recall } from '../../runtime/lib/recall.ts'
import { objectId } from '../../runtime/contract/object-id.ts'
import type { ObjectId } from '../../runtime/contract/manifest.ts'
import type { Oid } from '../catalog/types.ts'
import type { Annotated, AnnotatedSchema, AnnotatedType } from '../comments/types.ts'

/** What every pass looks up, whatever the order of the lists it was made from. */
export interface Scope {
  readonly types: ReadonlyMap<Oid, AnnotatedType>
  /** The same object as before unless a type that was there before says something else by now. */
  readonly meanings: object
  /** In the order of precedence. */
  readonly schemas: ReadonlyMap<string, ServedSchema>
  /** Row types of the served relations; only functions ask for them. */
  readonly rowTypes: () => ReadonlyMap<Oid, ObjectId>
}

export interface ServedSchema {
  readonly name: string
  readonly inflects: boolean
  readonly maxRows: number
  /** What a table's own comment goes before. */
  readonly settings: AnnotatedSchema['settings']
}

/** The largest page where nobody set one (spec/graphql.md 5.3). */
const defaultMaxRows = 30

/** The same list of the very same objects gives the same map. */
const ofList =
  <T>(recall: Recall<T>) =>
  (list: readonly object[], make: () => T): T =>
    recall(list[0] ?? list, list, make)

const recallNames = ofList(createRecall<Scope['schemas']>())

type Types = Pick<Scope, 'types' | 'meanings'>

/** The types of the last list that began with the key. */
const typesBefore = new WeakMap<object, Types>()

/** A type lives as long as it is mentioned, so to those that mention others it says nothing when it comes or goes. */
function readTypes(list: readonly AnnotatedType[]): Types {
  const [first] = list
  const before = first === undefined ? undefined : typesBefore.get(first)
  const types = new Map(list.map((type) => [type.oid, type]))
  const agrees = before !== undefined && list.every((type) => (before.types.get(type.oid) ?? type) === type)
  const now = { types, meanings: agrees ? before.meanings : types }
  if (first !== undefined) typesBefore.set(first, now)
  return now
}

export const readScope = (annotated: Annotated): Scope => ({
  ...readTypes(annotated.types),
  schemas: recallNames(annotated.schemas, () => new Map(annotated.schemas.map((one) => [one.name, servedSchema(one)]))),
  rowTypes: once(
    () => new Map(annotated.relations.map(({ rowType, schema, name }) => [rowType, objectId(schema, name)])),
  ),
})

const recallSchema = createRecall<ServedSchema>()

const servedSchema = (schema: AnnotatedSchema): ServedSchema =>
  recallSchema(schema, [], () => ({
    name: schema.name,
    inflects: schema.settings.inflect_names,
    maxRows: schema.settings.max_rows ?? defaultMaxRows,
    settings: schema.settings,
  }))

/** An object and the served schema that owns it. */
export interface Placed<T> {
  readonly object: T
  readonly schema: ServedSchema
}

/** Objects of served schemas in manifest order: the schemas' precedence, then names in byte order. */
export function inOrder<T extends { readonly schema: string; readonly name: string }>(
  scope: Scope,
  objects: readonly T[],
): readonly Placed<T>[] {
  const owned = groupBy(objects, (object) => object.schema)
  return [...scope.schemas.values()].flatMap((schema) =>
    [...(owned.get(schema.name) ?? [])]
      .sort((a, b) => compareBytes(a.name, b.name))
      .map((object) => ({ object, schema })),
  )
}

export const inflects = (scope: Scope, schema: string): boolean => scope.schemas.get(schema)?.inflects ?? false
