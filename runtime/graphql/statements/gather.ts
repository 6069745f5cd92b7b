import { where } from './source.ts'

/** Something made of each row. */
export interface Made {
  readonly value: string
  /** Rows of which nothing is made do not meet it; null: all do. */
  readonly condition: string | null
}

/** Rows taken in one pass. */
export interface Gathered {
  /** One row of what was gathered, as an item of FROM; null where nothing needs it. */
  readonly from: string | null
  /** By position of what is made: an array of it, empty where there are no rows. */
  readonly arrays: readonly string[]
  /** How many rows there were, whatever was made of them; only where it is asked for. */
  readonly count: string
}

/**
 * Gathers what is made of rows in arrays, in the order in which the rows come. A sub-select becomes an array without an
 * aggregate, which takes some microseconds to set up.
 *
 * @param alias a name that nothing else in the statement has
 * @param rows FROM, without a condition
 */
export function gather(alias: string, made: readonly Made[], counted: boolean, rows: string): Gathered {
  const [only, ...others] = made
  if (only === undefined && !counted) return { from: null, arrays: [], count: '' }
  if (only !== undefined && others.length === 0 && !(counted && only.condition !== null)) {
    const array = `array(select ${only.value} from ${rows}${where([only.condition])})`
    if (!counted) return { from: null, arrays: [array], count: '' }
    // Without OFFSET the sub-select would be dissolved, and the array made wherever it is used.
    return {
      from: `(select ${array} as a1 offset 0) ${alias}`,
      arrays: [`${alias}.a1`],
      count: `cardinality(${alias}.a1)`,
    }
  }
  const lists = made.map(
    ({ value, condition }, index) => `coalesce(array_agg(${value})${filtered(condition)}, '{}') as a${index + 1}`,
  )
  const list = counted ? [...lists, 'count(*) as n'] : lists
  return {
    from: `(select ${list.join(', ')} from ${rows}) ${alias}`,
    arrays: made.map((_, index) => `${alias}.a${index + 1}`),
    count: `${alias}.n`,
  }
}

const filtered = (condition: string | null): string => (condition === null ? '' : ` filter (where ${condition})`)
