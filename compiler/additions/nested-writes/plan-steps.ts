import type { EntityFacts } from '../../../runtime/contract/manifest.ts'
import type { Meant } from '../../../runtime/contract/stated.ts'
import type { PresetPlace } from '../../../runtime/engine/visible.ts'
import type { RowsChange, OnConflict, Row } from '../../../runtime/graphql/plan/plan-nodes.ts'
import type { ColumnChange, RowSets } from '../../../runtime/graphql/plan/column-changes.ts'
import type { Value } from '../../../runtime/graphql/plan/values.ts'

/** The steps of a change with related rows, each of which is a statement (spec/graphql.md 17.6). */

export type WriteStep = (InsertStep | ConnectStep | OwnStep | RelatedStep) & {
  readonly id: number
  readonly entity: EntityFacts
  /** Its path in the field's arguments. */
  readonly argument: readonly string[]
  /** SQL names of columns whose values later steps need. */
  readonly carried: readonly string[]
}

export interface InsertStep {
  readonly kind: 'insert'
  readonly rows: NestedRows
  readonly presets?: readonly PresetPlace[]
  /** Whether other steps depend on its rows, so that each of them must exist. */
  readonly isNeeded: boolean
  readonly given: Value | number
}

/** Existing rows, each of which is found by a key. */
export interface ConnectStep {
  readonly kind: 'connect'
  /** SQL names of the key's columns; values are arrays with one element per row. */
  readonly by: readonly { readonly column: string; readonly values: Value }[]
  /** As with a join. */
  readonly meant?: Meant
}

/** The row of the field itself, by a key of it. */
export interface OwnStep {
  readonly kind: 'own'
  /** SQL names of the key's columns, and their values. */
  readonly by: readonly string[]
  readonly values: readonly Value[]
  /** Empty: the row is only found and locked. */
  readonly set: readonly ColumnChange[]
  /** Columns that it takes from related rows; null: the reference is removed. */
  readonly links: readonly { readonly column: string; readonly from: LinkedValue | null }[]
}

/** Rows that are related to the row of an earlier step. */
export interface RelatedStep {
  readonly kind: 'related'
  /** The equal columns; empty: the rows may be unrelated before. */
  readonly belonging: readonly ColumnLink[]
  /** The keys of the rows, if there are several. */
  readonly rows: RowSets | null
  /** The new values of all rows, beside those of each row; null: the rows are deleted. */
  readonly set: readonly ColumnChange[] | null
  /** Columns that they take from the row; null: the reference is removed. */
  readonly links: readonly { readonly column: string; readonly from: CarriedColumn | null }[]
  readonly given: Value | number
}

export interface ColumnLink {
  readonly column: string
  readonly from: CarriedColumn
}

/** Like `InsertRows`, with columns whose values come from rows of other steps. */
export type NestedRows =
  | {
      readonly kind: 'uniform'
      readonly columns: readonly string[]
      /** Null: there are only links. */
      readonly records: Value | null
      readonly links: readonly { readonly column: string; readonly from: readonly LinkedFrom[] }[]
    }
  | {
      readonly kind: 'separate'
      readonly columns: readonly string[]
      readonly rows: readonly (readonly (Value | LinkedValue | null)[])[]
    }

export interface CarriedColumn {
  readonly step: number
  readonly column: string
}

/** `places`: for each row the number, from 1 on, of the row in the other step; null: none. */
export interface LinkedFrom extends CarriedColumn {
  readonly places: Value
}

export interface LinkedValue extends CarriedColumn {
  readonly place: number
}

/** A change of rows and of related ones, each kind of them by its own statement (spec/graphql.md 17.6). */
export interface ChangeSteps {
  /** In order: each depends only on earlier ones. */
  readonly steps: readonly PlacedStep[]
  /** The step of the rows themselves. */
  readonly own: number
}

export interface NestedInsert extends RowsChange, ChangeSteps {
  readonly kind: 'insert-nested'
}

/** One row by a key, with related ones; the answer is the row itself. */
export interface RelatedUpdate extends ChangeSteps {
  readonly kind: 'update-related'
  readonly key: string
  readonly entity: EntityFacts
  readonly row: Row
}

/** A step, with the treatment of existing rows. */
export type PlacedStep = WriteStep & { readonly onConflict?: OnConflict }

declare module '../../../runtime/graphql/plan/plan-nodes.ts' {
  interface AddedRoots {
    readonly nestedInsert: NestedInsert
    readonly relatedUpdate: RelatedUpdate
  }
}
