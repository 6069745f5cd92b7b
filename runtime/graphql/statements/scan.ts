import { isNotNull, isNull } from '../../sql/nulls.ts'
import { select, sql, type Column, type Ident, type Sql } from '../../sql/tree.ts'
import type { Collection, OrderKey, OrderTerm, Page } from '../plan/plan-nodes.ts'
import type { Value } from '../plan/values.ts'
import { orderKeys, type Matching } from './matching.ts'
import { afterCursor, orderBy, sameKey } from './order.ts'
import { valueParameter } from './parameters.ts'
import { columnOf, seenOutside, type Condition, type Scope, type Writer } from './source.ts'

/** The first rows of a collection in some order, or the first after a cursor. */
export interface Scan {
  /** A row of them under the alias that it has outside. */
  readonly scope: Scope
  readonly rows: Sql
}

/**
 * @param start the cursor and offset to begin at; null begins with the first row of all
 * @param letter of the alias that the rows get outside
 */
export function scanRows(
  writer: Writer,
  collection: Collection,
  matching: Matching,
  order: readonly OrderTerm[],
  start: Pick<Page, 'cursor' | 'offset'> | null,
  limit: Sql,
  letter: string,
): Scan {
  const inner = writer.alias('t')
  const cursor = start?.cursor ?? null
  const divided = matching.isWhole && !start?.offset ? nullParts(writer, collection, order, cursor) : null
  const reads = (divided ?? [wholePart(order, cursor)]).map((part) => ({
    part,
    rows: matching.read(inner, part.condition, orderKeys(collection)),
  }))
  const [first] = reads
  if (first === undefined) throw new Error('a scan reads something')
  const alias: Ident = writer.alias(letter)
  const { scope, outlet } = seenOutside(first.rows.scope, alias)
  const columns: readonly Column[] = [{ value: outlet }]
  const offset = start?.offset ? { offset: sql`${valueParameter(start.offset)}::int8` } : {}
  const arms = reads.map(({ part, rows: { scope: own, from, where } }) =>
    select(columns, { from, where, orderBy: orderBy(part.order, part.seen(own)), limit, ...offset }),
  )
  const [only, ...others] = arms
  if (only !== undefined && others.length === 0) return { scope, rows: only }
  return { scope, rows: { kind: 'union', alias, arms, orderBy: orderBy(order, scope), limit } }
}

/** Rows that are read and sorted by themselves. */
interface Part {
  readonly condition: Condition | null
  readonly order: readonly OrderTerm[]
  /** What is known of these rows. */
  readonly seen: (scope: Scope) => Scope
}

type Cursor = readonly (Value | null)[]

const asItIs = (scope: Scope): Scope => scope

const wholePart = (order: readonly OrderTerm[], cursor: Cursor | null): Part => ({
  condition: cursor === null ? null : afterCursor(order, cursor),
  order,
  seen: asItIs,
})

/**
 * A plain index has its nulls at one end, all of them equal (PostgreSQL manual 11.4). It cannot serve an order that
 * wants them at the other end, nor be entered where they begin or end; rows with a value and rows without one, each
 * sorted by themselves, have an index each (engine.md 1). Null where one index serves both: it goes up and comes to the
 * nulls last.
 */
function nullParts(
  { engine }: Writer,
  { entity }: Collection,
  order: readonly OrderTerm[],
  cursor: Cursor | null,
): readonly Part[] | null {
  const [first] = order
  const name = first?.column
  // What is joined for an order would be joined in each part.
  if (first === undefined || typeof name !== 'string' || !order.every(({ column }) => isOfRow(column))) return null
  const rest = order.filter(({ column }) => !sameKey(column, name))
  const isRequired = entity.key.includes(name) || columnOf(engine.entity(entity.id), name).notNull
  if (isRequired || rest.length === 0 || cursor?.length === 0) return null
  const { nullsFirst, descending } = first
  const at = cursor === null ? 'start' : cursor[0] === null ? 'null' : 'value'
  if (!nullsFirst && !descending && at === 'start') return null

  const seen = (scope: Scope): Scope => withValue(scope, name)
  const afterValue = at === 'value' && cursor !== null ? afterCursor(order, cursor) : null
  const restOfCursor = cursor?.filter((_, index) => !sameKey(order[index]?.column ?? name, name)) ?? []
  const afterNull = at === 'null' ? afterCursor(rest, restOfCursor) : null
  const parts: Part[] = []
  if (at !== 'null' || nullsFirst) {
    parts.push({ condition: both((scope) => isNotNull(scope.column(name)), afterValue, seen), order, seen })
  }
  if (at !== 'value' || !nullsFirst) {
    parts.push({
      condition: both((scope) => isNull(scope.column(name)), afterNull, asItIs),
      order: rest,
      seen: asItIs,
    })
  }
  return parts
}

const isOfRow = (key: OrderKey): boolean => typeof key === 'string' || key.kind === 'type'

const withValue = (scope: Scope, name: string): Scope => ({
  ...scope,
  ordered: (key) => ({ ...scope.ordered(key), ...(sameKey(key, name) && { notNull: true }) }),
})

const both =
  (condition: Condition, after: Condition | null, seen: Part['seen']): Condition =>
  (scope) =>
    after === null ? condition(scope) : sql`${condition(scope)} and ${after(seen(scope))}`
