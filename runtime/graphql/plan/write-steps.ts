import type { EntityFacts } from '../../contract/manifest.ts'
import type { PresetPlace } from '../../engine/visible/columns.ts'
import type { ColumnChange, RowSets } from './column-changes.ts'
import type { Value } from './values.ts'

/** The steps of a change with related rows, each of which is a statement (spec/graphql.md 17.6). */

export type WriteStep = (InsertStep | ConnectStep | OwnStep | RelatedStep) & {
  readonly id: number
  readonly entity: EntityFacts
  /** Where it stands in the field's arguments. */
  readonly argument: readonly string[]
  /** SQL names of columns whose values later steps need. */
  readonly carried: readonly string[]
}

export interface InsertStep {
  readonly kind: 'insert'
  readonly rows: NestedRows
  readonly presets?: readonly PresetPlace[]
  /** Whether others depend on them, so that none may be missing. */
  readonly isNeeded: boolean
  /** How many there are. */
  readonly given: Value | number
}

/** Rows that are there, each of which is found by a key. */
export interface ConnectStep {
  readonly kind: 'connect'
  /** SQL names of the key's columns; values are arrays with one of each row. */
  readonly by: readonly { readonly column: string; readonly values: Value }[]
}

/** The row of the field itself, by a key of it. */
export interface OwnStep {
  readonly kind: 'own'
  /** SQL names of the key's columns, and their values. */
  readonly by: readonly string[]
  readonly values: readonly Value[]
  /** Nothing is set: it is found and locked. */
  readonly set: readonly ColumnChange[]
  /** Columns that related rows give it; null: they lead nowhere any more. */
  readonly links: readonly { readonly column: string; readonly from: LinkedValue | null }[]
}

/** Rows that are related to the one of a step before. */
export interface RelatedStep {
  readonly kind: 'related'
  /** What they equal of it; empty: they may belong to anything. */
  readonly belonging: readonly ColumnLink[]
  /** Which they are, where there are several. */
  readonly rows: RowSets | null
  /** What each of them is set to, beside what it is set to by itself; null: they are deleted. */
  readonly set: readonly ColumnChange[] | null
  /** Columns that the row gives them; null: they belong to none any more. */
  readonly links: readonly { readonly column: string; readonly from: CarriedColumn | null }[]
  /** How many there are. */
  readonly given: Value | number
}

export interface ColumnLink {
  readonly column: string
  readonly from: CarriedColumn
}

/** As `InsertRows`, with columns whose values rows of other steps have. */
export type NestedRows =
  | {
      readonly kind: 'uniform'
      readonly columns: readonly string[]
      /** Null: there are none but links. */
      readonly records: Value | null
      readonly links: readonly { readonly column: string; readonly from: readonly LinkedFrom[] }[]
    }
  | {
      readonly kind: 'separate'
      readonly columns: readonly string[]
      readonly rows: readonly (readonly (Value | LinkedValue | null)[])[]
    }

/** A column of the rows of a step. */
export interface CarriedColumn {
  readonly step: number
  readonly column: string
}

/** `places`: for each row that of the other one among those of its step, from 1 on; null: it is none of them. */
export interface LinkedFrom extends CarriedColumn {
  readonly places: Value
}

export interface LinkedValue extends CarriedColumn {
  readonly place: number
}
