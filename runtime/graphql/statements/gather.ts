import { bare } from '../../sql/ident.ts'
import { select, sql, type From, type Ident, type Sql } from '../../sql/tree.ts'
import { given } from './source.ts'

/** A value that is made of each row. */
export interface Made {
  readonly value: Sql
  /** Rows that do not meet it give no value; null: all rows give one. */
  readonly condition: Sql | null
}

/** Rows that are aggregated in one pass. */
export interface Gathered {
  /** The aggregated row as an item of FROM; null if not needed. */
  readonly from: From | null
  /** An array for each made value, in order; empty without rows. */
  readonly arrays: readonly Sql[]
  /** The number of rows, only if selected. */
  readonly count: Sql
}

/**
 * Collects the values made of rows in arrays, in the order of the rows. ARRAY(sub-select) avoids the set-up of an
 * aggregate, which takes some microseconds.
 *
 * @param alias a name that nothing else in the statement has
 */
export function gather(alias: Ident, made: readonly Made[], counted: boolean, rows: From): Gathered {
  const [only, ...others] = made
  const from = [rows]
  if (only === undefined && !counted) return { from: null, arrays: [], count: sql`` }
  if (only !== undefined && others.length === 0 && !(counted && only.condition !== null)) {
    const array = sql`array${select([{ value: only.value }], { from, where: given([only.condition]) })}`
    if (!counted) return { from: null, arrays: [array], count: sql`` }
    const as = bare('a', 1)
    // Without OFFSET the sub-select would be pulled up, and the array made wherever it is used.
    return {
      from: { of: select([{ value: array, as }], { offset: sql`0` }), alias },
      arrays: [sql`${alias}.${as}`],
      count: sql`cardinality(${alias}.${as})`,
    }
  }
  const lists = made.map(({ value, condition }, index) => ({
    value: sql`coalesce(array_agg(${value})${condition === null ? sql`` : sql` filter (where ${condition})`}, '{}')`,
    as: bare('a', index + 1),
  }))
  const columns = counted ? [...lists, { value: sql`count(*)`, as: bare('n') }] : lists
  return {
    from: { of: select(columns, { from }), alias },
    arrays: lists.map(({ as }) => sql`${alias}.${as}`),
    count: sql`${alias}.n`,
  }
}
