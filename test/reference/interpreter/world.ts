/**
 * A small database for the interpreter and the generators: declarations, rows, privileges. It is plain JSON, so that a
 * failing case can be stored in a file. Nothing here is shared with the product.
 */

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

/** One cell, in its canonical JSON form: `bigint`, `numeric`, times and uuids are text. */
export type Value = null | boolean | number | string | readonly (boolean | number | string | null)[] | CompositeValue

export interface CompositeValue {
  readonly [attribute: string]: Value
}

export type BaseType =
  | 'int2'
  | 'int4'
  | 'int8'
  | 'text'
  | 'varchar(5)'
  | 'bool'
  | 'numeric'
  | 'numeric(8,2)'
  | 'timestamptz'
  | 'date'
  | 'timestamp'
  | 'time'
  | 'uuid'
  | 'float8'
  | 'enum'
  | 'composite'
  /** Of PostGIS: points and boxes, as the text of their GeoJSON. */
  | 'geometry'
  /** As the text of its jsonb. */
  | 'jsonb'
  /** As Postgres prints them. */
  | 'tsvector'
  | 'int4range'
  | 'int4multirange'
  | 'inet'
  | 'ltree'
  | 'bytea'
  /** Answered unchanged, and never filtered. */
  | 'other'

export interface ColumnType {
  readonly base: BaseType
  readonly list: boolean
  /** The enum's name if `base` is `enum`. */
  readonly enum: string | null
  /** The domain's name, if it is a domain over the rest. */
  readonly domain?: string
  /** The domain's name, if it is a list of one. */
  readonly elementDomain?: string
  /** The maximum length of a `text` that is a varchar(n). */
  readonly length?: number
  /** Digits after the point of a `numeric` with a scale. */
  readonly scale?: number
  /** Whether the value of an `other` is the text of the JSON that is answered. */
  readonly json?: true
  /** The collation that orders a `text`; absent: UTF-8 bytes. */
  readonly collation?: string
  /** The collation's name if it is not the database's, whether or not it orders differently. */
  readonly collated?: string
  /** The EPSG code of the reference system of a `geometry` other than longitude and latitude. */
  readonly srid?: number
  /** The composite type's name if `base` is `composite`. */
  readonly composite?: string
}

export interface CompositeSketch {
  readonly name: string
  /** The `name` setting. */
  readonly typeName?: string
  readonly attributes: readonly { readonly name: string; readonly type: ColumnType }[]
}

/** A domain; its check excludes `''`, numbers below 0 or more than two elements, by its base type. */
export interface DomainSketch {
  readonly name: string
  readonly type: ColumnType
  readonly check: 'nothing' | 'text' | 'sign' | 'size'
}

export interface EnumSketch {
  readonly name: string
  readonly labels: readonly string[]
  /** The `name` setting. */
  readonly typeName?: string
  /** Names in GraphQL by label. */
  readonly mappings: Readonly<Record<string, string>>
}

export interface ColumnSketch {
  readonly name: string
  readonly type: ColumnType
  readonly notNull: boolean
  /** The default of a new row; `identity` counts up from 1001. */
  readonly fallback:
    | { readonly kind: 'none' }
    | { readonly kind: 'value'; readonly value: Value }
    | { readonly kind: 'identity' }
  /** The `name` setting. */
  readonly field: string | null
  /** The `deprecated` setting: it changes no answer. */
  readonly deprecated?: string
}

export interface UniqueSketch {
  readonly columns: readonly string[]
  /** A partial index: only rows in which this boolean column is true. */
  readonly where: string | null
}

export interface ForeignKeySketch {
  readonly name: string
  readonly columns: readonly string[]
  readonly target: string
  readonly targetColumns: readonly string[]
  /** True while the constraint is not validated. */
  readonly unproven?: true
  readonly onDelete: 'no action' | 'cascade' | 'set null'
  readonly foreignName: string | null
  readonly localName: string | null
}

export type Command = 'select' | 'insert' | 'update' | 'delete'

export interface PolicySketch {
  readonly command: Command | 'all'
  readonly condition:
    | { readonly kind: 'always' }
    /** The boolean column is true. */
    | { readonly kind: 'flag'; readonly column: string }
    /** The text column is the caller's `sub`. */
    | { readonly kind: 'owner'; readonly column: string }
    | ExistsCondition
}

/**
 * Some row of a table, regardless of privileges, has in a column the value of another column of this row, or the
 * caller's `sub`.
 */
export interface ExistsCondition {
  readonly kind: 'exists'
  readonly table: string
  readonly foreign: string
  /** Null: the caller's `sub`. */
  readonly column: string | null
  /** The policy queries directly, or by a function with its owner's privileges. */
  readonly by: 'query' | 'sql' | 'plpgsql'
}

/** A view with all columns of a table, on the rows in which the boolean column is true, or on all of them. */
export interface ViewSketch {
  readonly of: string
  readonly flag: string | null
  /** Whether it reads with the privileges of the caller; otherwise with those of its owner, who bypasses policies. */
  readonly invoker: boolean
}

/** `all` is a grant on the table, a list is a grant on columns. */
export type ColumnGrant = 'all' | readonly string[]

export interface Grants {
  readonly select: ColumnGrant
  readonly insert: ColumnGrant
  readonly update: ColumnGrant
  readonly delete: boolean
}

export type Role = string

/** Settings of spec/graphql.md 17 of a table or its schema; absent: not set. */
export type Additions = Readonly<Partial<Record<(typeof additions)[number], boolean>>>
export const additions = [
  'relationFilters',
  'orderByRelated',
  'distinctOn',
  'upsert',
  'enumArrays',
  'groups',
  'uniqueKeys',
  'manyToMany',
  'jsonFilters',
  'search',
  'textFilters',
  'arrayFilters',
  'ltreeFilters',
  'rangeFilters',
  'networkFilters',
  'updates',
  'nestedWrites',
  'columnFilters',
  'oneOf',
] as const

/** The owner's value of a column, for any writer: a value of its type, or the caller's `sub`. */
export type PresetSketch = { readonly kind: 'value'; readonly value: Value } | { readonly kind: 'subject' }

/** The settings `readOnly`, `writeOnly` and `preset` for one role; `public` is all roles. */
export interface AccessSketch {
  readonly role: Role
  readonly readOnly: readonly string[]
  readonly writeOnly: readonly string[]
  readonly presets: readonly {
    readonly column: string
    readonly insert: PresetSketch | null
    readonly update: PresetSketch | null
  }[]
}

export interface ConditionSketch {
  readonly column: string
  readonly operator: string
  readonly value: Json
}

/** A relation in the comment of a table, and the path of relations to it. */
export interface LinkSketch {
  readonly name: string
  readonly path: readonly { readonly field: string; readonly conditions: readonly ConditionSketch[] }[]
}

/** A field for a row of the first of several relations with one. */
export interface UnionSketch {
  readonly field: string
  /** Relations by their fields. */
  readonly of: readonly string[]
}

export interface TableSketch {
  readonly name: string
  readonly access?: readonly AccessSketch[]
  /** The `defaultOrder` setting. */
  readonly defaultOrder?: readonly { readonly column: string; readonly direction: string }[]
  /** The `defaultFilter` setting, enums by their labels. */
  readonly defaultFilter?: readonly ConditionSketch[]
  /** The `softDelete` setting. */
  readonly softDelete?: string
  /** The `links` setting. */
  readonly links?: readonly LinkSketch[]
  /** The `polymorphism` setting, in three parts; an interface stands in one of the latter. */
  readonly unions?: readonly UnionSketch[]
  readonly interfaces?: readonly string[]
  readonly collections?: readonly string[]
  readonly additions?: Additions
  /** The `live` setting; absent: the schema's. */
  readonly live?: boolean
  /** The rows from that index on are in a child table, in which these columns may be null. */
  readonly heir?: { readonly from: number; readonly nullable: readonly string[] }
  /** Its rows are in partitions, by hash of its key. */
  readonly partitioned?: true
  /** Present for a view, which has the policies of its table if it reads with the privileges of the caller. */
  readonly view?: ViewSketch
  /** The `name` setting. */
  readonly typeName: string | null
  readonly totalCount: boolean
  readonly aggregate: boolean
  /** True if the `root` setting removes its fields from Query. */
  readonly unrooted?: true
  readonly maxRows: number | null
  readonly columns: readonly ColumnSketch[]
  /** As declared. */
  readonly primaryKey: readonly string[]
  readonly uniques: readonly UniqueSketch[]
  readonly foreignKeys: readonly ForeignKeySketch[]
  /** Null: row-level security is off. */
  readonly policies: readonly PolicySketch[] | null
  /** An absent role has no privileges. */
  readonly grants: Readonly<Record<Role, Grants>>
  /** True if there are more rows than these, each under a key of one column. */
  readonly sampled?: true
  /** Cells in the order of the columns. */
  readonly rows: readonly (readonly Value[])[]
}

/** A function of SQL; the names of its arguments are SQL names, '' if unnamed. */
export interface FunctionSketch {
  readonly name: string
  /** The `name` setting. */
  readonly field: string | null
  readonly volatile: boolean
  /** The roles that may execute it; `null`: PUBLIC. */
  readonly execute: Role | null
  readonly body: FunctionBody
}

export type FunctionBody =
  /** `a + b`, where `b` has a default unless that is null. */
  | { readonly kind: 'sum'; readonly a: string; readonly b: string; readonly fallback: number | null }
  /** Its argument unchanged, optional with a default. */
  | { readonly kind: 'echo'; readonly argument: string; readonly type: ColumnType; readonly fallback?: Value }
  | { readonly kind: 'void'; readonly argument: string }
  /** The rows of a table with a true boolean column, or all of them; with an argument without effect. */
  | { readonly kind: 'rows'; readonly table: string; readonly flag: string | null; readonly argument: string | null }
  /** The first row by its key in which the column has the argument's value. */
  | { readonly kind: 'row'; readonly table: string; readonly column: string; readonly argument: string }
  /** A computed field: the value of a column. */
  | { readonly kind: 'computed'; readonly table: string; readonly column: string }
  /** A computed field: the value of an int4 column and an argument together. */
  | { readonly kind: 'computedSum'; readonly table: string; readonly column: string; readonly argument: string }
  /**
   * A computed field: the number of rows of another table, regardless of privileges, with the row's value in a column.
   */
  | {
      readonly kind: 'computedCount'
      readonly table: string
      readonly column: string
      readonly counted: string
      readonly countedColumn: string
    }
  /**
   * A computed field: the rows of another table whose column equals the row's, all of them or the first by its key. The
   * argument is the number of rows to skip.
   */
  | {
      readonly kind: 'computedRows' | 'computedRow'
      readonly table: string
      readonly column: string
      readonly target: string
      readonly targetColumn: string
      /** Of several rows alone. */
      readonly argument?: string
    }

export interface AllowlistSketch {
  /** The governed roles; `null`: the default ones. */
  readonly roles: readonly Role[] | null
  /** Documents whose hash begins with one of these digits are on the list. */
  readonly digits: string
}

export interface World {
  /** The text around the directives in comments. */
  readonly comments: 'bare' | 'before' | 'after'
  readonly inflects: boolean
  /** Default: `public`. */
  readonly schema?: string
  /** Fields of other objects, as `Type.field`: they are neither shown nor requested. */
  readonly hidden?: readonly string[]
  /** All texts, in the order of each collation. */
  readonly collations?: Readonly<Record<string, readonly string[]>>
  readonly maxRows: number | null
  /** The `limits` setting of the schema. */
  readonly limits?: { readonly fields: number | null; readonly rows: number | null }
  readonly additions?: Additions
  /** Whether PostGIS is installed and the `geo` setting on. */
  readonly geo?: true
  /** The `explain` setting of the schema: it changes no answer. */
  readonly explain?: true
  /** The `schemaReport` setting of the schema, which changes none either. */
  readonly schemaReport?: true
  /** The `live` setting of the schema. */
  readonly live?: true
  /** The `allowlist` setting of the schema. */
  readonly allowlist?: AllowlistSketch
  /** The setting of that name. */
  readonly functionShapes?: boolean
  readonly enums: readonly EnumSketch[]
  /** Where there are some, the `composites` setting is on. Those that contain others come after them. */
  readonly composites?: readonly CompositeSketch[]
  /** Where there are some, the `domains` setting is on. */
  readonly domains?: readonly DomainSketch[]
  readonly tables: readonly TableSketch[]
  readonly functions: readonly FunctionSketch[]
}

export interface Question {
  readonly role: Role
  readonly claims: Readonly<Record<string, Json>>
  readonly document: string
  readonly variables: Readonly<Record<string, Json>>
  readonly operationName: string | null
}

const none: Grants = { select: [], insert: [], update: [], delete: false }

export const grantsOf = (table: TableSketch, role: Role): Grants => table.grants[role] ?? none

export const schemaOf = ({ schema }: World): string => schema ?? 'public'

/** A table's setting takes precedence over its schema's. */
export const hasAddition = (world: World, table: TableSketch, name: keyof Additions): boolean =>
  table.additions?.[name] ?? world.additions?.[name] ?? false

/** All of them. */
export const additionsOf = (world: World, table: TableSketch): Additions =>
  Object.fromEntries(additions.map((name) => [name, hasAddition(world, table, name)]))

export const compositeNamed = (world: Pick<World, 'composites'>, { composite }: ColumnType): CompositeSketch => {
  const found = world.composites?.find(({ name }) => name === composite)
  if (found === undefined) throw new Error(`the sketch has no composite type ${composite}`)
  return found
}

export const columnNamed = (table: TableSketch, name: string): ColumnSketch => {
  const found = table.columns.find((column) => column.name === name)
  if (found === undefined) throw new Error(`the sketch of ${table.name} has no column ${name}`)
  return found
}

export const tableNamed = (world: World, name: string): TableSketch => {
  const found = world.tables.find((table) => table.name === name)
  if (found === undefined) throw new Error(`the sketch has no table ${name}`)
  return found
}

/** The unique keys of a table by their names, the primary one first; no two tables share a name. */
export function uniqueKeysOf(table: TableSketch): ReadonlyMap<string, UniqueSketch> {
  const base = `key_${Buffer.from(table.name).toString('hex').slice(0, 40)}_${table.name.length}`
  const all = [{ columns: table.primaryKey, where: null }, ...table.uniques]
  return new Map(all.map((unique, index) => [`${base}_${index}`, unique]))
}

/**
 * The key's columns by attribute number, which is how node ids, cursors and look-ups list them (spec/graphql.md 1.2).
 */
export const keyOf = (table: TableSketch): readonly ColumnSketch[] =>
  table.columns.filter((column) => table.primaryKey.includes(column.name))
