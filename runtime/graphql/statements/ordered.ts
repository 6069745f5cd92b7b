import type { Comparisons } from '../../contract/builder.ts'
import type { Sql } from '../../sql/tree.ts'

/** An element of an order at this place of the statement. */
export interface Ordered {
  readonly value: Sql
  readonly notNull: boolean
  /** An order as an array, and what is carried for it, may be an array itself; those travel as jsonb. */
  readonly isArray: boolean
  /** What compares values; absent: what the search path says. */
  readonly comparisons?: Comparisons
  readonly operand: (value: Sql) => Sql
  readonly cursor: (value: Sql) => Sql
  /** See CursorElement. */
  readonly longest: number
}
