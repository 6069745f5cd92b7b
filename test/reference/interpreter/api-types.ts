import type { GroupFigure } from './aggregate.ts'
import type { Condition } from './conditions.ts'
import type { OperatorName } from './operators.ts'
import type { ColumnSketch, FunctionSketch, Grants, TableSketch, UniqueSketch, PresetSketch } from './world.ts'

/** The fields and types of one role's GraphQL schema (spec/graphql.md 1 and 2). */
export interface Api {
  readonly tables: readonly ApiTable[]
  readonly query: ReadonlyMap<string, RootField>
  readonly mutation: ReadonlyMap<string, RootField>
  /** The fields of interfaces that comments name (spec/graphql.md 17.9): columns, and the node id. */
  readonly interfaces: ReadonlyMap<string, ReadonlyMap<string, RowField>>
  /** Collections of the rows of several tables (spec/graphql.md 17.9). */
  readonly collected: readonly Collected[]
  /** The types of rows that interfaces and unions cover, by the names of these. */
  readonly abstract: ReadonlyMap<string, ReadonlySet<string>>
}

/** The collection of an interface. */
export interface Collected {
  /** That of the interface. */
  readonly name: string
  /** By the names of their types. */
  readonly of: readonly ApiTable[]
  readonly maxRows: number
  /** Fields that its rows are filtered and sorted by. */
  readonly filters: readonly string[]
  readonly orders: readonly string[]
}

export interface ApiTable {
  readonly sketch: TableSketch
  readonly schema: string
  readonly grants: Grants
  readonly type: string
  readonly maxRows: number
  readonly key: readonly ColumnSketch[]
  /** The arguments of a look-up by the key, in the key's order; null if a part of it cannot be an argument. */
  readonly keyArguments: ReadonlyMap<string, ColumnSketch> | null
  readonly fields: ReadonlyMap<string, RowField>
  /** The readable columns, even if a relation has the field's name. */
  readonly columns: ReadonlyMap<string, ColumnSketch>
  readonly filters: ReadonlyMap<string, ColumnSketch>
  /** Relations in filters (spec/graphql.md 17). */
  readonly filterRelations: ReadonlyMap<string, RelationField>
  /** Columns that can be compared with others in a filter (spec/graphql.md 17.1). */
  readonly compared: ReadonlyMap<string, ColumnSketch>
  readonly orders: ReadonlyMap<string, ColumnSketch>
  /** Relations that rows can be sorted by (spec/graphql.md 17). */
  readonly orderRelations: ReadonlyMap<string, RelationField>
  /** Columns by their order by rank (spec/graphql.md 17). */
  readonly ranks: ReadonlyMap<string, ColumnSketch>
  /** Columns that `distinctOn` can name (spec/graphql.md 17). */
  readonly distinct: ReadonlyMap<string, ColumnSketch>
  /** By command, the presets of columns (spec/graphql.md 17.5). */
  readonly presets: Readonly<Record<'insert' | 'update', ReadonlyMap<string, PresetSketch>>>
  readonly inserts: ReadonlyMap<string, ColumnSketch>
  readonly updates: ReadonlyMap<string, ColumnSketch>
  /** By operator, the columns that it can change (spec/graphql.md 17.4). */
  readonly operators: ReadonlyMap<OperatorName, ReadonlyMap<string, ColumnSketch>>
  /** Unique keys for `onConflict`, and the columns that an existing row can take over (spec/graphql.md 17). */
  readonly conflicts: ReadonlyMap<string, UniqueSketch>
  readonly takeovers: ReadonlyMap<string, ColumnSketch>
  /** The figures of columns, independent of `aggregate`. */
  readonly figures: ReadonlyMap<GroupFigure, ReadonlyMap<string, ColumnSketch>>
  readonly aggregates: ReadonlyMap<'sum' | 'avg' | 'min' | 'max', ReadonlyMap<string, ColumnSketch>>
  /** Tables whose rows edges are reached through, by their field on the edge (spec/graphql.md 17.7). */
  readonly between: ReadonlyMap<string, string>
  /** To-one relations whose values are possible keys of groups (spec/graphql.md 17.2). */
  readonly groupRelations: ReadonlyMap<string, RelationField>
}

export interface RelationField {
  readonly kind: 'relation'
  readonly target: string
  readonly many: boolean
  readonly direction: 'forward' | 'reverse'
  readonly local: readonly string[]
  readonly foreign: readonly string[]
  /** Whether there always is a row that all roles see (spec/graphql.md 8.4, decision 18). */
  readonly notNull: boolean
  /** If more than one key decides the related rows (spec/graphql.md 17.7, 17.8). */
  readonly way?: Way
}

export interface Way {
  /** Intermediate tables, each with its columns for the previous and for the next one. */
  readonly through: readonly {
    readonly table: string
    readonly near: readonly string[]
    readonly far: readonly string[]
    /** The condition on its rows. */
    readonly meets: Condition | null
  }[]
  /** The condition on the rows there. */
  readonly meets: Condition | null
  /** The intermediate table whose row is on the edge. */
  readonly onEdge: string | null
}

/** The row of the first of these relations with a row (spec/graphql.md 17.9). */
export interface UnionField {
  readonly kind: 'union'
  /** Its type. */
  readonly type: string
  readonly of: readonly RelationField[]
}

export type RowField =
  | { readonly kind: 'nodeId' }
  | { readonly kind: 'column'; readonly column: ColumnSketch }
  | RelationField
  | UnionField
  | { readonly kind: 'computed'; readonly function: FunctionSketch }
  /** A text with the matches between marks. */
  | { readonly kind: 'headline'; readonly column: ColumnSketch }

export type RootField =
  | { readonly kind: 'call'; readonly function: FunctionSketch }
  | { readonly kind: 'node' }
  | { readonly kind: 'collections'; readonly collected: Collected }
  | { readonly kind: 'lookup'; readonly table: ApiTable; readonly columns: ReadonlyMap<string, ColumnSketch> }
  | { readonly kind: 'collection' | 'byKey' | 'insert' | 'update' | 'delete'; readonly table: ApiTable }
  | RowWrite

/** A change of one row by a key, or of many by the primary key. */
export interface RowWrite {
  readonly kind: 'updateRow' | 'deleteRow' | 'updateRows'
  readonly table: ApiTable
  readonly key: ReadonlyMap<string, ColumnSketch>
}
