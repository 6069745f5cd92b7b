import type { SoftDeleteFacts } from '../../contract/stated.ts'
import type { PresetPlace } from '../../engine/visible/columns.ts'
import type { ChangeFamily, ChangeOperatorName } from '../../sql/changes.ts'
import type { Value } from './values.ts'

/** What columns of rows are changed to (spec/graphql.md 10.3, 17.4). */

/** A column's new value: one that is given, or what an operator makes of the present one. */
export type ColumnChange =
  | { readonly column: string; readonly value: Value }
  | PresetPlace
  /** What says that the row counts as deleted. */
  | SoftDeleteFacts
  | {
      readonly column: string
      readonly operator: ChangeOperatorName
      readonly family: ChangeFamily
      /** What it is applied to the value with, one after the other. */
      readonly operands: readonly (readonly Value[])[]
    }

/** Rows by a key, each with values of its own. */
export interface RowSets {
  /** By which columns a row is found; values are arrays with one of each object. */
  readonly by: readonly { readonly column: string; readonly values: Value }[]
  readonly set: readonly {
    readonly column: string
    readonly values: Value
    /** Which objects set it, where not all do. */
    readonly given: Value | null
  }[]
  readonly presets?: readonly PresetPlace[]
}
