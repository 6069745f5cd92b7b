import { bare } from '../../sql/ident.ts'
import { select, sql, type Ident, type Select, type Sql } from '../../sql/tree.ts'
import type { Collection, Join, OrderKey, OrderTerm } from '../plan/plan-nodes.ts'
import { compileFilter } from './filter.ts'
import { havingKey, madeByFunction, ofKeyed } from './keyed.ts'
import { orderBy, sameKey } from './order.ts'
import { joinRelated, type Picked } from './related.ts'
import { directScope, given, seenOutside, type Condition, type Scope, type Writer } from './source.ts'
import { ofTenant, satisfying, wayTo } from './tenants.ts'

/** What a collection is taken from. */
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
  readonly read: (alias: Ident, extra: Condition | null, keys: readonly OrderKey[]) => Rows
  /** Puts what belongs in front of the expression. */
  readonly wrap: (json: Sql) => Sql
}

export interface Rows extends Required<Pick<Select, 'from' | 'where'>> {
  readonly scope: Scope
}

/** What a collection is sorted by. */
export const orderKeys = ({ order }: Collection): readonly OrderKey[] => order.map(({ column }) => column)

/** @param reads how often the rows will be read */
export function matchingRows(writer: Writer, collection: Collection, source: Source, reads: number): Matching {
  const { entity, order, distinct } = collection
  const filter = collection.filter === null ? null : compileFilter(collection.filter, writer, collection)
  // A function runs once per request, whichever of its rows are selected; a volatile one runs even when none is.
  const runsOnce = source.isFunction && (reads > 1 || source.volatile)
  const rows = writer.alias('s')
  if (runsOnce) writer.note(rows, collection)
  const { parent } = source
  const isPicked = parent === null && !source.isFunction

  const plain = (alias: Ident, extra: Condition | null, keys: readonly OrderKey[]): Rows => {
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
  const firsts = (
    alias: Ident,
    extra: Condition | null,
    keys: readonly OrderKey[],
    columns: readonly string[],
  ): Rows => {
    const { scope: all, ...rest } = plain(writer.alias('t'), null, orderKeys(collection))
    const { scope: seen, outlet } = seenOutside(all, alias)
    // What is joined for the order is seen from outside; other keys are joined there.
    const further = keys.filter((key) => !order.some(({ column }) => sameKey(column, key)))
    const { scope, joins } = joinRelated(writer, seen, collection, further, null)
    const distinctOn = columns.map((column) => all.column(column))
    const sorted = orderBy(firstsOrder(order, columns), all)
    const of = select([{ value: outlet }], { distinctOn, ...rest, orderBy: sorted })
    return { scope, from: [{ of, alias, joins }], where: given([extra]).map((condition) => condition(scope)) }
  }
  return {
    isWhole: isPicked && distinct === undefined,
    read: (alias, extra, keys) =>
      distinct === undefined ? plain(alias, extra, keys) : firsts(alias, extra, keys, distinct),
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

/**
 * DISTINCT ON wants its columns first (PostgreSQL manual, SELECT). Among the rows that it takes for one they are equal,
 * so which way they are sorted decides nothing: as in the order, that one index and one sort may serve both.
 */
function firstsOrder(order: readonly OrderTerm[], columns: readonly string[]): readonly OrderTerm[] {
  const isNamed = ({ column }: OrderTerm): boolean => typeof column === 'string' && columns.includes(column)
  const others = columns.filter((name) => !order.some(({ column }) => column === name))
  return [
    ...order.filter(isNamed),
    ...others.map((column) => ({ column, descending: false, nullsFirst: false })),
    ...order.filter((term) => !isNamed(term)),
  ]
}
