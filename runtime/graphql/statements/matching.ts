import { bare } from '../../sql/ident.ts'
import { select, sql, type Ident, type Select, type Sql, type Column } from '../../sql/tree.ts'
import type { Collection, Join, OrderKey, OrderTerm, Page } from '../plan/plan-nodes.ts'
import { compileFilter } from './filter.ts'
import {
  havingKey,
  madeByFunction,
  ofKeyed,
  directScope,
  given,
  seenOutside,
  type Condition,
  type Scope,
  type Writer,
  columnOf,
} from './source.ts'
import { orderBy, sameKey, afterCursor } from './order.ts'
import { joinRelated, type Picked } from './related.ts'
import { ofTenant, satisfying, wayTo } from './tenants.ts'
import { isNotNull, isNull } from '../../sql/nulls.ts'
import type { Value } from '../plan/values.ts'
import { valueParameter } from './parameters.ts'

export interface Source {
  /** A relation's name, or a function call. */
  readonly of: Sql
  readonly isFunction: boolean
  readonly volatile: boolean
  /** The row that these are related to; null: they are taken from all. */
  readonly parent: { readonly join: Join; readonly here: Scope } | null
}

/** The rows that satisfy filter and parent, as something that can be read several times. */
export interface Matching {
  /** They are taken from all rows of a relation, not from those of a parent or of a function, nor from one of each kind. */
  readonly isWhole: boolean
  /** The rows under an alias, with a further condition; they can be sorted and grouped by the keys. */
  readonly read: ReadRows
  /** Puts what belongs in front of the expression. */
  readonly wrap: (json: Sql) => Sql
}

export type ReadRows = (alias: Ident, extra: Condition | null, keys: readonly OrderKey[]) => Rows

type ReadSome = (writer: Writer, collection: Collection, all: ReadRows) => ReadRows

declare module '../../engine/additions.ts' {
  interface SchemaAddition {
    readonly rows?: { readonly of: keyof Collection; readonly read: ReadSome }
  }
}

interface Rows extends Required<Pick<Select, 'from' | 'where'>> {
  readonly scope: Scope
}

export const orderKeys = ({ order }: Collection): readonly OrderKey[] => order.map(({ column }) => column)

/** @param reads how often the rows will be read */
export function matchingRows(writer: Writer, collection: Collection, source: Source, reads: number): Matching {
  const { entity } = collection
  const filter = collection.filter === null ? null : compileFilter(collection.filter, writer, collection)
  // A function runs once per request, whichever of its rows are selected; a volatile one runs even when none is.
  const runsOnce = source.isFunction && (reads > 1 || source.volatile)
  const rows = writer.alias('s')
  if (runsOnce) writer.note(rows, collection)
  const { parent } = source
  const isPicked = parent === null && !source.isFunction

  const plain: ReadRows = (alias, extra, keys) => {
    writer.note(alias, collection)
    const picked: Picked | null = isPicked ? (scope) => filter?.(scope) ?? null : null
    const direct = directScope(writer, entity, alias)
    const bare = source.isFunction ? madeByFunction(direct) : direct
    const way = parent === null ? null : wayTo(writer, parent.join, parent.here, bare, collection)
    const own = { ...(way?.there ?? bare), ...(way?.between && { between: way.between }) }
    const kept = havingKey(satisfying(own, collection.filter))
    const { scope, joins } = joinRelated(writer, kept, collection, keys, picked)
    const where = [
      ...(way === null ? ofKeyed(own) : [way.on, ...way.met]),
      ...given([filter, extra]).map((condition) => condition(scope)),
      ...(isPicked ? ofTenant(own) : []),
    ]
    return {
      scope,
      from: [{ of: runsOnce ? rows : source.of, alias, joins: [...(way?.joins ?? []), ...joins] }],
      where,
    }
  }
  const read = writer.engine.additions.list.reduce<ReadRows>(
    (all, { rows: some }) => (some !== undefined && some.of in collection ? some.read(writer, collection, all) : all),
    plain,
  )
  return {
    isWhole: isPicked && read === plain,
    read,
    wrap: (json) => {
      if (!runsOnce) return json
      const of = select([{ value: sql`*` }], { from: [{ of: source.of, alias: bare('f') }] })
      const counted = select([{ value: sql`count(*)` }], { from: [{ of: rows }] })
      return select([{ value: json }], {
        with: [{ name: rows, materialized: true, of }],
        ...(source.volatile && { from: [{ of: counted, alias: bare('ran') }] }),
      })
    },
  }
}

/** The first rows of a collection in some order, or the first after a cursor. */
interface Scan {
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
  /** Adds the facts about these rows. */
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
  // The joins of an order would be repeated in each part.
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
    parts.push({ condition: both((scope) => isNull(scope.column(name)), afterNull, asItIs), order: rest, seen: asItIs })
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
