import { bare } from '../../sql/ident.ts'
import { select, sql, type From, type Ident, type Sql } from '../../sql/tree.ts'
import { given } from './source.ts'

/** Something made of each row. */
export interface Made {
  readonly value: Sql
  /** Rows of which nothing is made do not meet it; null: all do. */
  readonly condition: Sql | null
}

/** Rows taken in one pass. */
export interface Gathered {
  /** One row of what was gathered, as an item of FROM; null where nothing needs it. */
  readonly from: From | null
  /** By position of what is made: an array of it, empty where there are no rows. */
  readonly arrays: readonly Sql[]
  /** The number of rows, only where it is selected. */
  readonly count: Sql
}

/**
 * Gathers what is made of rows in arrays, in the order in which the rows come. A sub-select becomes an array without an
 * aggregate, which takes some microseconds to set up.
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
    // Without OFFSET the sub-select would be dissolved, and the array made wherever it is used.
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
