import type { PresetPlace } from '../../engine/visible.ts'
import type { AggregateFacts, EntityFacts, LookupFacts, ObjectId } from '../../contract/manifest.ts'
import type { Meant } from '../../contract/stated.ts'
import type { ColumnOperatorName } from '../../sql/operators.ts'
import type { SpatialOperatorName } from '../../sql/spatial.ts'
import type { SizeHole } from '../../sql/tree.ts'
import type { Value } from './values.ts'
import type { ColumnChange } from './column-changes.ts'
import type { WatchedRead } from './watched-reads.ts'

/**
 * s3: the reads and writes, with slots for values. No GraphQL document and no SQL: names here are response keys, SQL
 * names of columns, and ids of objects.
 */

/** A condition on the rows of one relation. An empty `all` is true; an empty `any` does not occur. */
export type Filter =
  | { readonly kind: 'all' | 'any'; readonly of: readonly Filter[] }
  | { readonly kind: 'not'; readonly of: Filter }
  | (Subject & {
      readonly kind: 'compare'
      readonly operator: string
      readonly operand: 'value' | 'values' | 'pattern'
      readonly value: Value
    })
  /** Compares two columns of the row, by their SQL names. */
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
      /** Only if the operator takes one. */
      readonly distance?: Value
    })
  | (Subject & {
      /** An operator that belongs to the subject's form. */
      readonly kind: 'form'
      readonly operator: string
      readonly value: Value
      /** Only if a second operand is given. */
      readonly beside?: Value
    })
  /** A quantified condition on elements of the subject, which its form has; null: each element meets it. */
  | (Subject & { readonly kind: 'elements'; readonly quantifier: string; readonly of: Filter | null })
  /** The key's columns equal these values, in key order. */
  | { readonly kind: 'key'; readonly values: readonly Value[] }
  /** The row is one that a field means. */
  | { readonly kind: 'meant'; readonly of: Meant }
  /** A quantified condition on the related rows; without a condition, all rows meet it. */
  | {
      readonly kind: 'related'
      readonly quantifier: Quantifier
      readonly entity: EntityFacts
      readonly join: Join
      readonly of: Filter | null
    }

/** The compared value: a column by its SQL name, an attribute at any depth, or the value of a computed field. */
export type Subject = SubjectForm &
  (
    | { readonly column: string; readonly path?: readonly string[] }
    | { readonly computed: ObjectId }
    /** An element of the enclosing list. */
    | { readonly element: true }
  )

/** How a value is read. */
export interface SubjectForm {
  /** The name of the form, if an addition defines its filter. */
  readonly form?: string
}

/** Whether at least one, each or no related row meets a condition; `every` and `none` are true without rows. */
export type Quantifier = 'some' | 'every' | 'none'

/** A sort key: a column, the name of the rows' type, or a value of related rows. */
export type OrderKey = string | TypeKey | RankKey | RelatedKey

/** The name of the rows' type, which is constant for one relation. */
export interface TypeKey {
  readonly kind: 'type'
  readonly name: string
}

/** The rank of a column's value for a search. */
export interface RankKey extends Searched {
  readonly kind: 'rank'
  readonly form: string
}

/** A column and the search words, in a given text search configuration or the session's. */
interface Searched {
  readonly column: string
  readonly query: Value
  readonly config?: Value
}

export type RelatedKey =
  /** A key of the related row; null without such a row, which `always` excludes. */
  | {
      readonly kind: 'one'
      readonly entity: EntityFacts
      readonly join: DirectJoin
      readonly always: boolean
      readonly of: OrderKey
    }
  /** The number of related rows. */
  | { readonly kind: 'count'; readonly entity: EntityFacts; readonly join: Join }

export interface OrderTerm {
  readonly column: OrderKey
  readonly descending: boolean
  readonly nullsFirst: boolean
}

export interface Page {
  /** The maximum number of rows on the page. */
  readonly limit: number
  /** The variable of the page size, if not larger than `limit`; absent: no variable, or the page is empty. */
  readonly sizedBy?: Omit<SizeHole, 'plus'>
  readonly backward: boolean
  readonly offset: Value | null
  /** One entry per cursor element, in order; null if the cursor contains a null. */
  readonly cursor: readonly (Value | null)[] | null
}

export interface Collection {
  readonly entity: EntityFacts
  readonly filter: Filter | null
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
  | AddedConnectionMembers[keyof AddedConnectionMembers]

/** Further members, by kind: each addition declares those that it brings. */
export interface AddedConnectionMembers {}

export type EdgeMember =
  | Typename
  | { readonly kind: 'cursor'; readonly key: string }
  | { readonly kind: 'node'; readonly key: string; readonly row: Row }
  /** The row through which the edge is reached; null if it belongs to another relation. */
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
      /** A null parameter means the default of Postgres. */
      readonly start: Value
      readonly stop: Value
      readonly whole: Value
    })
  | ({ readonly kind: 'one'; readonly key: string } & ToOne)
  /** The first of these relations with a row. */
  | { readonly kind: 'union'; readonly key: string; readonly of: readonly ToOne[] }
  | { readonly kind: 'many'; readonly key: string; readonly join: Join; readonly collection: Collection }
  | (ComputedCall & { readonly key: string } & CallResult<'computed'>)

export interface ToOne {
  readonly join: Join
  readonly unique: boolean
  readonly row: Row
}

/** The selections of a composite value. */
export type CompositeMembers = readonly (
  | Typename
  | { readonly kind: 'attribute'; readonly key: string; readonly attribute: string }
  | { readonly kind: 'composite'; readonly key: string; readonly attribute: string; readonly members: CompositeMembers }
)[]

export interface ComputedCall {
  readonly function: ObjectId
  /** Further arguments; absent: none. */
  readonly args?: readonly Argument[]
}

/** The selections of a function's result. */
export type CallResult<Of extends 'call' | 'computed'> =
  | { readonly kind: `${Of}-value` | `${Of}-void` }
  | { readonly kind: `${Of}-composite`; readonly members: CompositeMembers }
  | { readonly kind: `${Of}-row`; readonly row: Row }
  | { readonly kind: `${Of}-set`; readonly volatile: boolean; readonly collection: Collection }

/** SQL names of the columns that are equal at both ends, in pairs. */
export interface Join {
  readonly local: readonly string[]
  readonly foreign: readonly string[]
  /** The rows there that are meant; absent: all. */
  readonly meant?: Meant
  /** A condition on the rows there. */
  readonly filter?: Filter
  /** Intermediate relations: `local` equals `near` of the first, `foreign` equals `far` of the last. */
  readonly through?: readonly Through[]
  /** Whether several intermediate rows may connect the same two rows. */
  readonly repeats?: true
}

export interface Through {
  readonly entity: EntityFacts
  readonly near: readonly string[]
  readonly far: readonly string[]
  readonly meant?: Meant
  readonly filter?: Filter
}

/** A join without intermediate relations. */
export type DirectJoin = Omit<Join, 'through' | 'repeats'> & { readonly through?: never }

/** One join of several, and the relation at its end. */
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
      /** A unique key; absent: the primary key. */
      readonly by?: LookupFacts
      readonly values: readonly Value[]
      /** As with a join. */
      readonly meant?: Meant
      readonly row: Row
    }
  | ({ readonly key: string; readonly call: ObjectId; readonly args: readonly Argument[] } & CallResult<'call'>)
  | Insert
  | Update
  | Delete
  | AddedRoots[keyof AddedRoots]

/** Further ones, by kind: each addition declares those that it brings. */
export interface AddedRoots {}

/**
 * Rows of several relations in one order: the given order, the type, then the key of each (spec/graphql.md 17.9). The
 * pages differ only in their cursors, the members only in the rows of the edges.
 */
export interface Collections {
  readonly kind: 'collections'
  readonly key: string
  readonly of: readonly Collection[]
}

export interface RowsChange {
  readonly key: string
  readonly entity: EntityFacts
  readonly members: readonly ResponseMember[]
}

export interface Insert extends RowsChange {
  readonly kind: 'insert'
  readonly rows: InsertRows
  /** The treatment of existing rows; without it they fail the request. */
  readonly onConflict?: OnConflict
  readonly presets?: readonly PresetPlace[]
}

export interface OnConflict {
  /** Name of a unique key. */
  readonly key: string
  /** Columns that an existing row takes from the row to be inserted; none: it stays unchanged. */
  readonly update: readonly string[]
  /** The rows to change. */
  readonly filter: Filter | null
  /** Further values that the owner sets in a changed row. */
  readonly presets?: readonly PresetPlace[]
}

export interface Update extends RowsChange {
  readonly kind: 'update'
  readonly set: readonly ColumnChange[]
  readonly filter: Filter | null
  readonly atMost: Value
}

export interface Delete extends RowsChange {
  readonly kind: 'delete'
  /** The new values of the rows; absent: they are removed. */
  readonly set?: readonly ColumnChange[]
  readonly filter: Filter | null
  readonly atMost: Value
}

export type InsertRows =
  /** Several objects with the same columns: one parameter holds them all. */
  | { readonly kind: 'uniform'; readonly columns: readonly string[]; readonly records: Value }
  /** One object, or several with different columns: a parameter for each value; null: the column's default. */
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
  /** Of a subscription: its reads. */
  readonly reads?: readonly WatchedRead[]
}
