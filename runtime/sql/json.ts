import { bare, ident } from './ident.ts'
import {
  literal,
  joined,
  select,
  sql,
  type Column,
  type Ident,
  type ObjectValue,
  type Pair,
  type Select,
  type Sql,
} from './tree.ts'

/**
 * JSON objects in SQL. They are rows, whose column names are the keys, and lists of them are arrays of rows: one call
 * converts all of it to text, whereas texts of single objects would be copied at every level. Postgres truncates names
 * at 63 bytes (NAMEDATALEN) and allows at most 1,664 columns in a list (MaxTupleAttributeNumber); beyond either, keys
 * and values are aggregated to json directly, which has no limit.
 */
const maxKeyBytes = 63
const maxColumns = 1_600

const isNarrow = (pairs: readonly Pair[]): boolean =>
  pairs.length > 0 && pairs.length <= maxColumns && pairs.every(([key]) => Buffer.byteLength(key) <= maxKeyBytes)

/** The members of an object as columns. */
export const columnsOf = (pairs: readonly Pair[]): readonly Column[] =>
  pairs.map(([key, value]) => ({ value, as: ident(key) }))

const aggregated = (pairs: readonly Pair[]): Sql => {
  if (pairs.length === 0) return sql`'{}'::json`
  const rows = pairs.map(([key, value]) => sql`(${literal(key)}, to_json(${value}))`)
  return sql`(select json_object_agg(v.k, v.v) from (values ${joined(rows, ', ')}) as v(k, v))`
}

/** The JSON of a value; for null it is null. */
export const toJson = (value: Sql): Sql => sql`to_json(${value})`

const row = bare('o')

/** A value that becomes an object with these members, in this order, when it or its container is converted to JSON. */
export const object = (pairs: readonly Pair[]): Sql =>
  isNarrow(pairs) ? inForms(pairs, rowOf(select(columnsOf(pairs))), (built) => built) : aggregated(pairs)

type Rows = Pick<Select, 'from' | 'where' | 'limit'>

/** The same over rows: null for no row, an error for several. */
export const objectFrom = (pairs: readonly Pair[], rows: Rows): Sql =>
  isNarrow(pairs)
    ? inForms(pairs, rowOf(select(columnsOf(pairs), rows)), (value) => select([{ value }], rows))
    : select([{ value: aggregated(pairs) }], rows)

/** The first of these objects that is not null. */
export const firstObject = (objects: readonly Sql[]): Sql => sql`coalesce(${joined(alike(objects), ', ')})`

/** Alternative objects: if one is json, all of them are, because a record is not json. */
export const alike = (objects: readonly Sql[]): readonly Sql[] =>
  objects.every((one) => typeof one === 'object' && (one.kind === 'object' || one.kind === 'item'))
    ? objects
    : objects.map(toJson)

const rowOf = (of: Select): Select => select([{ value: { kind: 'row', alias: row } }], { from: [{ of, alias: row }] })

/** A function takes 100 arguments at most (FUNC_MAX_ARGS). */
const maxArguments = 100

/** An object that is built directly has no sub-select, each of which another server would have to plan. */
const inForms = (pairs: readonly Pair[], record: Select, within: (built: Sql) => Sql): ObjectValue => ({
  kind: 'object',
  record,
  json: () => (isBuilt(pairs) ? within(built(pairs)) : record),
})

/** Whether an object has few enough members to be built directly. */
export const isBuilt = (pairs: readonly unknown[]): boolean => 2 * pairs.length <= maxArguments

/** An object built directly: an expression of type json. */
export const built = (pairs: readonly Pair[]): Sql =>
  sql`json_build_object(${joined(
    pairs.map(([key, value]) => sql`${literal(key)}, ${value}`),
    ', ',
  )})`

export type MakeObject = (pairs: readonly Pair[]) => Sql

/**
 * Nested objects as items of a FROM clause. The planner flattens items without a FROM into one row of rows; sub-selects
 * in a list are run one by one for every row.
 */
export const asItems =
  (name: () => Ident): MakeObject =>
  (pairs) =>
    isNarrow(pairs) ? { kind: 'item', alias: name(), pairs } : object(pairs)

/** An expression of type json: an array of these values. Long ones are concatenated, which only jsonb supports. */
export function jsonArray(values: readonly Sql[]): Sql {
  if (values.length <= maxArguments) return sql`json_build_array(${joined(values, ', ')})`
  const parts: Sql[] = []
  for (let start = 0; start < values.length; start += maxArguments) {
    parts.push(sql`jsonb_build_array(${joined(values.slice(start, start + maxArguments), ', ')})`)
  }
  return sql`(${joined(parts, ' || ')})::json`
}
