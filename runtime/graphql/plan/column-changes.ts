import type { Marker } from '../../contract/stated.ts'
import type { PresetPlace } from '../../engine/visible.ts'
import type { ChangeFamily, ChangeOperatorName } from '../../sql/change-operators.ts'
import type { Value } from './values.ts'

/** Changes of columns (spec/graphql.md 10.3, 17.4). */

/** A column's new value: a given value, or the result of an operator on the present one. */
export type ColumnChange =
  | { readonly column: string; readonly value: Value }
  | PresetPlace
  /** The mark of the row. */
  | Marker
  | {
      readonly column: string
      readonly operator: ChangeOperatorName
      readonly family: ChangeFamily
      readonly operands: readonly (readonly Value[])[]
    }

/** Rows by a key, each with its own values. */
export interface RowSets {
  /** The columns by which a row is found; values are arrays with one element per object. */
  readonly by: readonly { readonly column: string; readonly values: Value }[]
  readonly set: readonly {
    readonly column: string
    readonly values: Value
    /** The objects that set it, if not all do. */
    readonly given: Value | null
  }[]
  readonly presets?: readonly PresetPlace[]
}
