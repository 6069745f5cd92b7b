import type { PresetPlace } from '../../engine/visible/columns.ts'
import type { GroupFigure } from '../../contract/figures.ts'
import type { RecurringTime, TimeUnit } from '../../contract/buckets.ts'
import type { AggregateFacts, EntityFacts, LookupFacts, ObjectId } from '../../contract/manifest.ts'
import type { FormName } from '../../contract/filter-forms.ts'
import type { JsonPartName } from '../../sql/json-form.ts'
import type { ColumnOperatorName } from '../../sql/operators.ts'
import type { ElementQuantifier } from '../../sql/quantifiers.ts'
import type { SearchedForm } from '../../sql/search-form.ts'
import type { SpatialOperatorName } from '../../sql/spatial.ts'
import type { SizeHole } from '../../sql/tree.ts'
import type { Value } from './values.ts'
import type { ColumnChange, RowSets } from './column-changes.ts'
import type { WatchedRead } from './watched-reads.ts'
import type { WriteStep } from './write-steps.ts'

/**
 * s3: what to read and write, with slots for values. No GraphQL document and no SQL: names here are response keys, SQL names
 * of columns, and ids of objects.
 */

/** A condition on the rows of one relation. `all` of nothing holds, `any` of nothing does not occur. */
export type Filter =
  | { readonly kind: 'all' | 'any'; readonly of: readonly Filter[] }
  | { readonly kind: 'not'; readonly of: Filter }
  | (Subject & {
      readonly kind: 'compare'
      readonly operator: string
      readonly operand: 'value' | 'values' | 'pattern'
      readonly value: Value
    })
  /** One column of the row with another one, by their SQL names. */
  | {
      readonly kind: 'compare-column'
      readonly column: string
      readonly operator: ColumnOperatorName
      readonly other: string
    }
  | (Subject & { readonly kind: 'presence'; readonly present: boolean })
  | (Subject & {
      readonly kind: 'spatial'
      readonly operator: SpatialOperatorName
      readonly value: Value
      /** Only where the operator takes one. */
      readonly distance?: Value
    })
  | (Subject & {
      /** An operator of the subject's form. */
      readonly kind: 'form'
      readonly operator: string
      readonly value: Value
      /** Only where a second operand is given. */
      readonly beside?: Value
    })
  /** How many elements of a list meet a condition, whose subject is an element; without one, all do. */
  | (Subject & { readonly kind: 'elements'; readonly quantifier: ElementQuantifier; readonly of: Filter | null })
  /** The key's columns equal these values, in key order. */
  | { readonly kind: 'key'; readonly values: readonly Value[] }
  /** The row counts as deleted, or does not. */
  | { readonly kind: 'deleted'; readonly deleted: boolean }
  /** How many of the related rows meet a condition; without one, all rows do. */
  | {
      readonly kind: 'related'
      readonly quantifier: Quantifier
      readonly entity: EntityFacts
      readonly join: Join
      readonly of: Filter | null
    }

/** What is compared: a column by its SQL name, or an attribute of it and of that, or the value of a computed field. */
export type Subject = (
  | { readonly column: string; readonly path?: readonly string[] }
  | { readonly computed: ObjectId }
  /** Of the list around the condition. */
  | { readonly element: true }
) & {
  /** How its value is read, where an addition brings its filter. */
  readonly form?: FormName
  /** What of a JSON value is compared: steps from what the one before found. */
  readonly at?: readonly JsonStep[]
}

export interface JsonStep {
  readonly path: Value
  readonly as: JsonPartName
}

/** Whether at least one, each or no related row meets a condition; each and none of no rows do. */
export type Quantifier = 'some' | 'every' | 'none'

/** What rows are sorted by: a column, the name of their type, or something of the rows that are related to them. */
export type OrderKey = string | TypeKey | RankKey | RelatedKey

/** The name of the rows' type, which is the same of all of one relation. */
export interface TypeKey {
  readonly kind: 'type'
  readonly name: string
}

/** How well a column's value fits a query. */
export interface RankKey extends Searched {
  readonly kind: 'rank'
  readonly form: SearchedForm
}

/** A column and the words that are searched in it, in a text search configuration or in the session's. */
interface Searched {
  readonly column: string
  readonly query: Value
  readonly config?: Value
}

export type RelatedKey =
  /** A key of the related row; null where there is none, which with `always` never is. */
  | {
      readonly kind: 'one'
      readonly entity: EntityFacts
      readonly join: DirectJoin
      readonly always: boolean
      readonly of: OrderKey
    }
  /** How many related rows there are. */
  | { readonly kind: 'count'; readonly entity: EntityFacts; readonly join: Join }

export interface OrderTerm {
  readonly column: OrderKey
  readonly descending: boolean
  readonly nullsFirst: boolean
}

export interface Page {
  /** Most rows on the page. */
  readonly limit: number
  /** The variable that says so, of so many rows at most; absent: none does, or the page is empty. */
  readonly sizedBy?: Omit<SizeHole, 'plus'>
  readonly backward: boolean
  readonly offset: Value | null
  /** One entry per cursor element, in order; null where the cursor holds a null. */
  readonly cursor: readonly (Value | null)[] | null
}

export interface Collection {
  readonly entity: EntityFacts
  readonly filter: Filter | null
  /** SQL names of columns: of rows with the same values in them only the first in the order counts. */
  readonly distinct?: readonly string[]
  readonly order: readonly OrderTerm[]
  readonly page: Page
  readonly members: readonly ConnectionMember[]
}

export type ConnectionMember =
  | Typename
  | { readonly kind: 'edges'; readonly key: string; readonly members: readonly EdgeMember[] }
  | { readonly kind: 'pageInfo'; readonly key: string; readonly members: readonly PageInfoMember[] }
  | { readonly kind: 'totalCount'; readonly key: string }
  | { readonly kind: 'aggregate'; readonly key: string; readonly members: readonly AggregateMember[] }
  | { readonly kind: 'groups'; readonly key: string; readonly groups: Groups }

/** Groups of all rows of a collection that match (spec/graphql.md 17.2). */
export interface Groups {
  /** What is found out about each group; everything else names it by its id. */
  readonly values: readonly GroupValue[]
  /** Conditions on the groups, whose columns are ids of values. */
  readonly having: Filter | null
  /** Of ids. */
  readonly order: readonly OrderTerm[]
  readonly page: Page
  readonly members: readonly GroupMember[]
  /** Arguments by which nothing is found out: they are checked all the same. Absent: none. */
  readonly checked?: readonly Value[]
}

export type GroupValue = { readonly id: string } & (
  | { readonly kind: 'count' }
  | { readonly kind: 'figure'; readonly function: GroupFigure; readonly column: string }
  /** `at` is a part of 1. */
  | { readonly kind: 'percentile'; readonly at: Value; readonly column: string }
  /** Different values of a column, the least first. */
  | { readonly kind: 'values'; readonly atMost: Value; readonly column: string }
  | GroupKey
)

/** What rows of a group have in common. */
export interface GroupKey {
  readonly kind: 'key'
  readonly of: OrderKey
  /** Absent: values that are equal. */
  readonly unit?: TimeUnit
  /** The number of a time that recurs is what they have in common. */
  readonly recurring?: RecurringTime
  /** How far numbers reach that are one group; absent: those that are equal. */
  readonly width?: Value
  /** In which the unit begins or the time recurs; absent: that of the session. */
  readonly zone?: Value
}

export type GroupMember =
  | Typename
  | { readonly kind: 'value'; readonly key: string; readonly value: string }
  | { readonly kind: 'cursor'; readonly key: string }
  | { readonly kind: 'object'; readonly key: string; readonly members: readonly GroupMember[] }

export type EdgeMember =
  | Typename
  | { readonly kind: 'cursor'; readonly key: string }
  | { readonly kind: 'node'; readonly key: string; readonly row: Row }
  /** The row that the edge is reached through; null where it is not reached through one of this relation. */
  | { readonly kind: 'between'; readonly key: string; readonly row: Row }

export type PageInfoMember =
  | Typename
  | { readonly kind: 'startCursor' | 'endCursor' | 'hasNextPage' | 'hasPreviousPage'; readonly key: string }

export type FigureName = keyof AggregateFacts

export type AggregateMember =
  | Typename
  | { readonly kind: 'count'; readonly key: string }
  | {
      readonly kind: 'figures'
      readonly key: string
      readonly function: FigureName
      readonly members: readonly (
        | Typename
        | { readonly kind: 'figure'; readonly key: string; readonly column: string }
      )[]
    }

export interface Typename {
  readonly kind: 'typename'
  readonly key: string
  readonly name: string
}

/** A row's selected fields. */
export interface Row {
  readonly entity: EntityFacts
  readonly members: readonly RowMember[]
}

export type RowMember =
  | Typename
  | { readonly kind: 'composite'; readonly key: string; readonly column: string; readonly members: CompositeMembers }
  | { readonly kind: 'node-id'; readonly key: string }
  | { readonly kind: 'column'; readonly key: string; readonly column: string }
  | (Searched & {
      readonly kind: 'headline'
      readonly key: string
      /** Nulls stand for what Postgres has without them. */
      readonly start: Value
      readonly stop: Value
      readonly whole: Value
    })
  | ({ readonly kind: 'one'; readonly key: string } & ToOne)
  /** The first of these that leads to a row. */
  | { readonly kind: 'union'; readonly key: string; readonly of: readonly ToOne[] }
  | { readonly kind: 'many'; readonly key: string; readonly join: Join; readonly collection: Collection }
  | (ComputedCall & { readonly key: string } & CallResult<'computed'>)

/** The row that a relation leads to. */
export interface ToOne {
  readonly join: Join
  readonly unique: boolean
  readonly row: Row
}

/** What is selected of a composite value. */
export type CompositeMembers = readonly (
  | Typename
  | { readonly kind: 'attribute'; readonly key: string; readonly attribute: string }
  | {
      readonly kind: 'composite'
      readonly key: string
      readonly attribute: string
      readonly members: CompositeMembers
    }
)[]

/** A function of the row. */
export interface ComputedCall {
  readonly function: ObjectId
  /** What it is passed besides the row; absent when that is nothing. */
  readonly args?: readonly Argument[]
}

/** What is taken of what a function answers. */
export type CallResult<Of extends 'call' | 'computed'> =
  | { readonly kind: `${Of}-value` | `${Of}-void` }
  | { readonly kind: `${Of}-composite`; readonly members: CompositeMembers }
  | { readonly kind: `${Of}-row`; readonly row: Row }
  | { readonly kind: `${Of}-set`; readonly volatile: boolean; readonly collection: Collection }

/** SQL names of the columns that are equal here and there, pairwise. */
export interface Join {
  readonly local: readonly string[]
  readonly foreign: readonly string[]
  /** Of the rows there only those that count as deleted, or only those that do not; absent: both. */
  readonly deleted?: boolean
  /** What rows there have to meet. */
  readonly filter?: Filter
  /** Relations in between: `local` equals what is `near` of the first, `foreign` what is `far` of the last. */
  readonly through?: readonly Through[]
  /** Whether several rows in between may connect the same two rows. */
  readonly repeats?: true
}

export interface Through {
  readonly entity: EntityFacts
  readonly near: readonly string[]
  readonly far: readonly string[]
  readonly filter?: Filter
}

/** A join with nothing in between. */
export type DirectJoin = Omit<Join, 'through' | 'repeats'> & { readonly through?: never }

/** One join of several, and the relation that it leads to. */
export interface Hop {
  readonly entity: EntityFacts
  readonly join: DirectJoin
}

export interface Argument {
  /** GraphQL name. */
  readonly field: string
  readonly value: Value
}

/** One root field of a request. */
export type Root =
  /** Known without the database: __typename and introspection; `json` is its text. */
  | { readonly kind: 'constant'; readonly key: string; readonly json: string }
  | { readonly kind: 'collection'; readonly key: string; readonly collection: Collection }
  | Collections
  | {
      readonly kind: 'by-key'
      readonly key: string
      /** A unique key; absent: the relation's own. */
      readonly by?: LookupFacts
      readonly values: readonly Value[]
      /** As with a join. */
      readonly deleted?: boolean
      readonly row: Row
    }
  | ({ readonly key: string; readonly call: ObjectId; readonly args: readonly Argument[] } & CallResult<'call'>)
  | Insert
  | NestedInsert
  | Update
  | Delete
  | UpdateRows
  | RowChange
  | RelatedUpdate

/**
 * Rows of several relations in one order: what the caller gives, the type, then the key of each (spec/graphql.md 17.9). The pages
 * differ in their cursors alone, the members in the rows of the edges.
 */
export interface Collections {
  readonly kind: 'collections'
  readonly key: string
  readonly of: readonly Collection[]
}

/** What all changes of rows have in common. */
interface Change {
  readonly key: string
  readonly entity: EntityFacts
  readonly members: readonly ResponseMember[]
}

export interface Insert extends Change {
  readonly kind: 'insert'
  readonly rows: InsertRows
  /** What to do with rows that are there already; without it they fail the request. */
  readonly onConflict?: OnConflict
  readonly presets?: readonly PresetPlace[]
}

/** A change of rows and of related ones, each kind of them by a statement of its own (spec/graphql.md 17.6). */
export interface ChangeSteps {
  /** In order: each relies on those before it alone. */
  readonly steps: readonly PlacedStep[]
  /** The step of the rows themselves. */
  readonly own: number
}

export interface NestedInsert extends Change, ChangeSteps {
  readonly kind: 'insert-nested'
}

/** One row by a key, with related ones; it is answered itself. */
export interface RelatedUpdate extends ChangeSteps {
  readonly kind: 'update-related'
  readonly key: string
  readonly entity: EntityFacts
  readonly row: Row
}

/** A step, with what to do with its rows that are there already. */
export type PlacedStep = WriteStep & { readonly onConflict?: OnConflict }

export interface OnConflict {
  /** Name of a unique key. */
  readonly key: string
  /** Columns that a row takes over from the one that was to be inserted; none: it is left alone. */
  readonly update: readonly string[]
  /** Which rows are changed. */
  readonly filter: Filter | null
  /** What a row that is changed is set to beside. */
  readonly presets?: readonly PresetPlace[]
}

export interface Update extends Change {
  readonly kind: 'update'
  readonly set: readonly ColumnChange[]
  readonly filter: Filter | null
  readonly atMost: Value
}

/** Rows by their primary key. */
export interface UpdateRows extends Change, RowSets {
  readonly kind: 'update-rows'
  /** As with a join. */
  readonly deleted?: boolean
  readonly atMost: Value
}

/** One row by a key; it is answered itself. */
export interface RowChange {
  readonly kind: 'update-row' | 'delete-row'
  readonly key: string
  readonly entity: EntityFacts
  /** SQL names of the key's columns, and their values. */
  readonly by: readonly string[]
  readonly values: readonly Value[]
  /** False where several rows may have them. */
  readonly unique: boolean
  /** As with a join. */
  readonly deleted?: boolean
  /** What it is changed to; nothing: it is removed. */
  readonly set: readonly ColumnChange[]
  readonly row: Row
}

export interface Delete extends Change {
  readonly kind: 'delete'
  /** What rows are changed to that count as deleted then; absent: they are removed. */
  readonly set?: readonly ColumnChange[]
  readonly filter: Filter | null
  readonly atMost: Value
}

export type InsertRows =
  /** Several objects that name the same columns: one parameter holds them all. */
  | { readonly kind: 'uniform'; readonly columns: readonly string[]; readonly records: Value }
  /** One object, or several that name different columns: a parameter for each value; null stands for the column's default. */
  | {
      readonly kind: 'separate'
      readonly columns: readonly string[]
      readonly rows: readonly (readonly (Value | null)[])[]
    }

export type ResponseMember =
  | Typename
  | { readonly kind: 'affectedCount'; readonly key: string }
  | { readonly kind: 'records'; readonly key: string; readonly row: Row }

export interface Plan {
  readonly writes: boolean
  readonly roots: readonly Root[]
  /** Of a subscription: what it reads. */
  readonly reads?: readonly WatchedRead[]
}
