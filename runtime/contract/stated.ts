/**
 * A comment's settings for the rows of a table: conditions, an order, a marker (spec/graphql.md 17.5, 17.8).
 */

export const orderDirections = ['AscNullsFirst', 'AscNullsLast', 'DescNullsFirst', 'DescNullsLast'] as const

export type OrderDirection = (typeof orderDirections)[number]

export interface DefaultOrderFacts {
  /** SQL name of a column that can be sorted by. */
  readonly column: string
  readonly direction: OrderDirection
}

export const conditionOperators = ['eq', 'gt', 'gte', 'in', 'is', 'lt', 'lte', 'neq'] as const

export type FilterConstant = string | number | boolean

export interface ConditionFacts {
  /** SQL name of a column that can be filtered by. */
  readonly column: string
  readonly operator: (typeof conditionOperators)[number]
  /** For an enum its label, for `is` NULL or NOT_NULL; for `in` a list. */
  readonly value: FilterConstant | readonly FilterConstant[]
}

export interface Marker {
  /** SQL name. */
  readonly column: string
  /** A time, null in rows without the mark, or a flag that is true in rows with it. */
  readonly mark: 'time' | 'flag'
}

/** The rows that a field means: those with the mark, or those without it. */
export interface Meant extends Marker {
  readonly isMarked: boolean
}
