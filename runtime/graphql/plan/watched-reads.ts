import type { LiveRelation } from '../../contract/live.ts'
import type { Value } from './values.ts'

/** The reads of a subscription (spec/graphql.md 16.1). */

/** A place where a subscription reads rows, with the facts that select the changes which matter to it. */
export interface WatchedRead {
  /** Relations of which every change matters. */
  readonly any: readonly LiveRelation[]
  /** The relation of which only rows that meet `demand` matter; null: there is none. */
  readonly own: LiveRelation | null
  /** A necessary condition of the rows; null: unknown. */
  readonly demand: Demand | null
  /** The index of the earlier read from whose rows a join leads here. Null: none. */
  readonly from: { readonly read: number; readonly pairs: readonly JoinedPins[] } | null
}

/** Equal columns at both ends of a join whose equal values are equal texts. */
export interface JoinedPins {
  readonly there: string
  readonly here: string
}

/** Conditions that name values of columns. `each`: the value is a list and one of its items matches. */
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
