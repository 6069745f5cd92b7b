import type { LiveRelation } from '../../contract/live.ts'
import type { Value } from './values.ts'

/** What a subscription reads (spec/graphql.md 16.1). */

/** One place where a subscription reads rows, by which changes that matter to it are told from others. */
export interface WatchedRead {
  /** Relations any change of which matters. */
  readonly any: readonly LiveRelation[]
  /** The relation of which only rows matter that meet `demand`; null: there is none. */
  readonly own: LiveRelation | null
  /** What rows have to meet at least; null: nothing is known of them. */
  readonly demand: Demand | null
  /** The read from whose rows a join leads here, by its place; it comes before. Null: none does. */
  readonly from: { readonly read: number; readonly pairs: readonly JoinedPins[] } | null
}

/** Columns that are equal there and here, and whose equal values are equal texts. */
export interface JoinedPins {
  readonly there: string
  readonly here: string
}

/** Conditions that name values of columns. `each`: the value is a list, and one of its items it is. */
export type Demand =
  | { readonly kind: 'all' | 'any'; readonly of: readonly Demand[] }
  | {
      readonly kind: 'equal'
      readonly column: string
      readonly form: PinForm
      readonly value: Value
      readonly each: boolean
    }

/** How values of a type are written as Postgres prints them. */
export type PinForm = 'integer' | 'uuid' | 'boolean' | 'date' | 'text'
