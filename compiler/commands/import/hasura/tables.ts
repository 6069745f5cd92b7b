import type { Catalog, CatalogRelation, CatalogType } from '../../../catalog/catalog.ts'
import { isJsonObject, type JsonObject } from '../../../../runtime/lib/json.ts'
import { memberObject, memberObjects, memberText } from '../imported.ts'

export interface Name {
  readonly schema: string
  readonly name: string
}

export const textOfName = ({ schema, name }: Name): string => `${schema}.${name}`

/** Of a table or function: `users`, or an object with its schema. */
export function qualifiedName(value: unknown): Name {
  if (typeof value === 'string') return { schema: 'public', name: value }
  return { schema: memberText(value, 'schema') ?? 'public', name: memberText(value, 'name') ?? '' }
}

export interface Relationship {
  readonly name: string
  readonly kind: 'object' | 'array'
  /** Null: the metadata or the database does not say where it leads. */
  readonly leads: {
    readonly target: Name
    readonly pairs: readonly (readonly [local: string, foreign: string])[]
  } | null
  /** Why it is not known. */
  readonly lack: string
}

/** A tracked table that the database has. */
export interface TrackedTable extends Name {
  readonly metadata: JsonObject
  readonly relation: CatalogRelation
  readonly relationships: ReadonlyMap<string, Relationship>
  /** Names of functions of computed fields, by the field. */
  readonly computed: ReadonlyMap<string, Name>
}

/** The tracked tables and the database that they are in. */
export interface World {
  readonly tables: ReadonlyMap<string, TrackedTable>
  readonly missing: readonly string[]
  readonly relation: (name: Name) => CatalogRelation | undefined
  readonly type: (oid: string) => CatalogType | undefined
}

const columnNames = (value: unknown): readonly string[] =>
  typeof value === 'string' ? [value] : Array.isArray(value) ? value.map(String) : []

/** A foreign key of `from` over these columns, of several the first. */
const keyOver = (from: CatalogRelation | undefined, columns: readonly string[]) =>
  from?.foreignKeys.find(
    (key) => key.columns.length === columns.length && key.columns.every((one) => columns.includes(one)),
  )

type Leads = NonNullable<Relationship['leads']>

function leadsOf(using: JsonObject, relation: CatalogRelation, find: World['relation']): Leads | string {
  const manual = using['manual_configuration']
  if (isJsonObject(manual)) {
    const pairs = Object.entries(memberObject(manual, 'column_mapping')).map(
      ([from, to]) => [from, String(to)] as const,
    )
    return { target: qualifiedName(manual['remote_table']), pairs }
  }
  const on = using['foreign_key_constraint_on']
  if (isJsonObject(on)) {
    const target = qualifiedName(on['table'])
    const columns = columnNames(on['columns'] ?? on['column'])
    const key = keyOver(find(target), columns)
    if (key === undefined) return `${textOfName(target)} has no foreign key over ${columns.join(', ')}`
    return { target, pairs: key.foreignColumns.map((local, index) => [local, key.columns[index] ?? ''] as const) }
  }
  const columns = columnNames(on)
  const key = keyOver(relation, columns)
  if (key === undefined) return `the table has no foreign key over ${columns.join(', ')}`
  const target = { schema: key.foreignSchema, name: key.foreignRelation }
  return { target, pairs: key.columns.map((local, index) => [local, key.foreignColumns[index] ?? ''] as const) }
}

function relationshipsOf(metadata: JsonObject, relation: CatalogRelation, find: World['relation']) {
  const kinds = [
    ['object', 'object_relationships'],
    ['array', 'array_relationships'],
  ] as const
  return kinds.flatMap(([kind, member]) =>
    memberObjects(metadata, member).map((one): Relationship => {
      const leads = leadsOf(memberObject(one, 'using'), relation, find)
      const name = memberText(one, 'name') ?? ''
      return typeof leads === 'string' ? { name, kind, leads: null, lack: leads } : { name, kind, leads, lack: '' }
    }),
  )
}

export function createWorld(catalog: Catalog, tracked: readonly JsonObject[]): World {
  const relations = new Map(catalog.relations.map((one) => [textOfName(one), one]))
  const types = new Map(catalog.types.map((one) => [one.oid, one]))
  const relation = (name: Name): CatalogRelation | undefined => relations.get(textOfName(name))
  const [tables, missing] = [new Map<string, TrackedTable>(), [] as string[]]
  for (const metadata of tracked) {
    const name = qualifiedName(metadata['table'])
    const found = relation(name)
    if (found === undefined) missing.push(textOfName(name))
    else {
      const computed = memberObjects(metadata, 'computed_fields').map(
        (one) => [memberText(one, 'name') ?? '', qualifiedName(memberObject(one, 'definition')['function'])] as const,
      )
      tables.set(textOfName(name), {
        ...name,
        metadata,
        relation: found,
        relationships: new Map(relationshipsOf(metadata, found, relation).map((one) => [one.name, one])),
        computed: new Map(computed),
      })
    }
  }
  return { tables, missing, relation, type: (oid) => types.get(oid) }
}
