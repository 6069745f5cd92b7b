import { compareBytes } from '../../runtime/lib/text.ts'
import { groupBy } from '../../runtime/lib/steps.ts'
import type { Memo } from '../../runtime/lib/memo/memo.ts'
import { tablesOf, type Tables, viewOf, type Lookup } from '../../runtime/lib/memo/tables.ts'
import { objectId } from '../../runtime/contract/facts.ts'
import type { EntityAdditions, ObjectId } from '../../runtime/contract/manifest.ts'
import { formsOf, type Form } from '../../runtime/sql/form.ts'
import type { Annotated, AnnotatedRelation, AnnotatedSchema, AnnotatedType } from '../comments/annotated.ts'
import { isOn } from '../comments/additions.ts'

/** The lookups of every pass, independent of the order of the lists. */
export interface ModelScope extends Tables {
  readonly types: Lookup<AnnotatedType>
  readonly schemas: Lookup<ServedSchema>
  /** By OID: relations with a trigger that may set columns of a new row. */
  readonly filled: Lookup<true>
  /** By row type: the relations. */
  readonly rowTypes: Lookup<ObjectId>
}

export interface ServedSchema extends Required<Omit<SwitchedAddition, 'forms' | 'values'>> {
  readonly name: string
  readonly inflects: boolean
  readonly maxRows: number
  /** The defaults for tables without their own comment. */
  readonly settings: AnnotatedSchema['settings']
  /** Forms of values that its settings or those of its tables may switch on. */
  readonly forms: ReadonlyMap<string, Form>
  /** By the names of the settings that switch them on. */
  readonly readings: readonly Readonly<{ name: string; values: ValueReading }>[]
}

/** The default page size (spec/graphql.md 5.3). */
const defaultMaxRows = 30

/** @param schemas of `annotated`, as they are served */
export const readScope = (memo: Memo, annotated: Annotated, schemas: readonly ServedSchema[]): ModelScope =>
  tablesOf({
    types: new Map(annotated.types.map((type) => [type.oid, type])),
    schemas: new Map(schemas.map((schema) => [schema.name, schema])),
    filled: viewOf(memo.table(itself, annotated.filled ?? nobody), isThere),
    rowTypes: viewOf(memo.table(rowTypeOf, annotated.relations), idOfRelation),
  })

const nobody: readonly string[] = []
const itself = (oid: string): string => oid
const isThere = (): true => true
const rowTypeOf = ({ rowType }: AnnotatedRelation): string => rowType
const idOfRelation = ({ schema, name }: AnnotatedRelation): ObjectId => objectId(schema, name)

/** How an addition reads types: the reader of types declares what it takes. */
export interface ValueReading {}

export interface SwitchedAddition {
  readonly name: string
  /** Facts of a relation that the settings of the same names switch on; a table's takes precedence over its schema's. */
  readonly switches?: readonly string[]
  /** Those of them that are also arguments of collections of the relation. */
  readonly collectionArguments?: readonly (keyof EntityAdditions)[]
  /** Those of them by which collections are sorted by related rows. */
  readonly joins?: readonly (keyof EntityAdditions)[]
  /** Forms of values whose filters it defines. */
  readonly forms?: readonly Form[]
  readonly values?: ValueReading
}

export const servedSchema = (
  { name, settings }: AnnotatedSchema,
  additions: readonly SwitchedAddition[],
): ServedSchema => ({
  name,
  inflects: settings.inflect_names,
  maxRows: settings.max_rows ?? defaultMaxRows,
  settings,
  switches: additions.flatMap(({ switches = [] }) => switches).sort(),
  collectionArguments: additions.flatMap(({ collectionArguments = [] }) => collectionArguments),
  joins: additions.flatMap(({ joins = [] }) => joins),
  forms: formsOf(additions),
  readings: additions.flatMap(({ name, values }) => (values ? [{ name, values }] : [])),
})

interface Placed<T> {
  readonly object: T
  readonly schema: ServedSchema
}

/** Objects of the schemas in manifest order: the schemas' precedence, then names in byte order. */
export function inOrder<T extends { readonly schema: string; readonly name: string }>(
  schemas: readonly ServedSchema[],
  objects: readonly T[],
): readonly Placed<T>[] {
  const owned = groupBy(objects, (object) => object.schema)
  return schemas.flatMap((schema) =>
    [...(owned.get(schema.name) ?? [])]
      .sort((a, b) => compareBytes(a.name, b.name))
      .map((object) => ({ object, schema })),
  )
}

export const inflects = (scope: ModelScope, schema: string): boolean => scope.schemas.get(schema)?.inflects ?? false

/** Enabled additions of a table (spec/graphql.md 17); its setting takes precedence over its schema's. */
export const tableAdditions = (relation: AnnotatedRelation, schema: ServedSchema): EntityAdditions =>
  Object.fromEntries(schema.switches.filter((name) => isOn(name, relation, schema)).map((name) => [name, true]))
