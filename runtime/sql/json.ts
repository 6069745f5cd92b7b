import { ident } from './ident.ts'
import { literal } from './literal.ts'

/**
 * JSON objects in SQL. They are rows, whose columns' names are the keys, and lists of them are arrays of rows: one call turns all
 * of it into text at once, where objects made text one by one would be copied at every level. Postgres cuts names at 63 bytes
 * (NAMEDATALEN) and has at most 1,664 columns in a list (MaxTupleAttributeNumber); beyond either, keys and values are aggregated
 * to json at once, which has no limit.
 */
export type Pair = readonly [key: string, value: string]

const maxKeyBytes = 63
const maxColumns = 1_600

const isNarrow = (pairs: readonly Pair[]): boolean =>
  pairs.length > 0 && pairs.length <= maxColumns && pairs.every(([key]) => Buffer.byteLength(key) <= maxKeyBytes)

const columns = (pairs: readonly Pair[]): string => pairs.map(([key, value]) => `${value} as ${ident(key)}`).join(', ')

const aggregated = (pairs: readonly Pair[]): string => {
  if (pairs.length === 0) return `'{}'::json`
  const rows = pairs.map(([key, value]) => `(${literal(key)}, to_json(${value}))`).join(', ')
  return `(select json_object_agg(v.k, v.v) from (values ${rows}) as v(k, v))`
}

/** The JSON of a value; of SQL's null it is null. */
export const toJson = (value: string): string => `to_json(${value})`

/** A value that becomes an object with these members, in this order, when JSON is made of it or of what holds it. */
export const object = (pairs: readonly Pair[]): string =>
  isNarrow(pairs) ? `(select (o.*)::record from (select ${columns(pairs)}) o)` : aggregated(pairs)

/** The same over what a FROM clause yields: null when it yields no row, an error when it yields several. */
export const objectFrom = (pairs: readonly Pair[], from: string): string =>
  isNarrow(pairs)
    ? `(select (o.*)::record from (select ${columns(pairs)} from ${from}) o)`
    : `(select ${aggregated(pairs)} from ${from})`

/**
 * Objects, one in another, as items of a FROM clause. Without a FROM of their own the planner dissolves them into one row of
 * rows; sub-selects in a list are run one by one for every row.
 */
export interface Items {
  /** As `object` above. */
  readonly object: (pairs: readonly Pair[]) => string
  /** What the FROM clause goes on with; to be asked for when everything is written. */
  readonly from: () => string
}

/** Objects by themselves: what they call is called where they stand. */
export const aloneItems: Items = { object, from: () => '' }

/** To plan items takes time that grows with the square of their number; objects beyond are sub-selects. */
const mostItems = 32

/** `alias` gives names that nothing else in the statement has. */
export function createItems(alias: () => string): Items {
  const items: string[] = []
  const add = (pairs: readonly Pair[]): string => {
    const name = alias()
    items.push(`, lateral (select ${columns(pairs)}) ${name}`)
    // The cast makes one value of it; a bare alias could be the name of a column.
    return `(${name}.*)::record`
  }
  return {
    object: (pairs) => (items.length < mostItems && isNarrow(pairs) ? add(pairs) : object(pairs)),
    from: () => items.join(''),
  }
}

/** A function takes 100 arguments at most (FUNC_MAX_ARGS). */
const maxArguments = 100

/** An expression of type json: an array of these values. Long ones are joined from shorter ones, which only jsonb can be. */
export function jsonArray(values: readonly string[]): string {
  if (values.length <= maxArguments) return `json_build_array(${values.join(', ')})`
  const parts: string[] = []
  for (let start = 0; start < values.length; start += maxArguments) {
    parts.push(`jsonb_build_array(${values.slice(start, start + maxArguments).join(', ')})`)
  }
  return `(${parts.join(' || ')})::json`
}
