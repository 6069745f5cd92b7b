import type { Comparisons } from '../../contract/builder.ts'
import type { Sql } from '../../sql/tree.ts'

/** An element of an order in this scope. */
export interface Ordered {
  readonly value: Sql
  readonly notNull: boolean
  /** An order by an array, and its carried value, may be an array itself; these become jsonb. */
  readonly isArray: boolean
  /** The comparison operators; absent: those of the search path. */
  readonly comparisons?: Comparisons
  readonly operand: (value: Sql) => Sql
  readonly cursor: (value: Sql) => Sql
  /** See CursorElement. */
  readonly longest: number
}
