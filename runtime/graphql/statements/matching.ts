import { once } from '../../lib/once.ts'
import type { Collection, OrderTerm } from '../plan/types.ts'
import { compileFilter, type Condition } from './filter.ts'
import { orderBy } from './order.ts'
import { joinRelated, type Picked } from './related.ts'
import { carriedScope, directScope, selectList, where, type Scope, type Writer } from './source.ts'

/** What a collection is taken from. */
export interface Source {
  /** A relation's name, or a function call; to be asked for where it is written, since a call adds its arguments to the parameters. */
  readonly from: () => string
  readonly isFunction: boolean
  readonly volatile: boolean
  /** The condition that ties a row to its parent. */
  readonly condition: Condition | null
}

/** The rows that satisfy filter and parent, as something that can be read several times. */
export interface Matching {
  /** They are taken from all rows of a relation, not from those of a parent or of a function, nor from one of each kind. */
  readonly isWhole: boolean
  /** The rows under an alias, with a further condition; `ordered` ones can be sorted by the collection's order. */
  readonly read: (alias: string, extra: Condition | null, use: 'ordered' | 'counted') => Rows
  /** Puts what belongs in front of the expression. */
  readonly wrap: (json: string) => string
}

export interface Rows {
  readonly scope: Scope
  /** FROM and WHERE; to be asked for once everything that uses the scope is written. */
  readonly from: () => string
}

/** @param reads how often the rows will be read */
export function matchingRows(writer: Writer, collection: Collection, source: Source, reads: number): Matching {
  const { entity, order, distinct } = collection
  // A parameter that no text mentions has no type, and Postgres refuses it: filters are compiled when something is read.
  const filter = once(() => (collection.filter === null ? null : compileFilter(collection.filter, writer, collection)))
  // A function runs once per request, whatever is asked of its rows; a volatile one runs even when none of them is wanted.
  const runsOnce = source.isFunction && (reads > 1 || source.volatile)
  const rows = writer.alias('s')
  if (runsOnce) writer.note(rows, collection)
  const isPicked = source.condition === null && !source.isFunction

  const plain = (alias: string, extra: Condition | null, ordered: boolean): Rows => {
    writer.note(alias, collection)
    const picked: Picked | null = isPicked ? (scope) => filter()?.(scope) ?? null : null
    const own = directScope(writer, entity, alias)
    const { scope, joins } = ordered ? joinRelated(writer, own, collection, picked) : { scope: own, joins: '' }
    const conditions = [source.condition, filter(), extra].map((condition) => condition?.(scope) ?? null)
    const from = `${runsOnce ? rows : source.from()} ${alias}${joins}${where(conditions)}`
    return { scope, from: () => from }
  }
  const firsts = (alias: string, extra: Condition | null, columns: readonly string[]): Rows => {
    const all = plain(writer.alias('t'), null, true)
    const carried = carriedScope(all.scope, alias)
    const condition = where([extra?.(carried.scope) ?? null])
    const on = columns.map((column) => all.scope.column(column)).join(', ')
    const sorted = orderBy(firstsOrder(order, columns), all.scope)
    const from = (): string =>
      `(select distinct on (${on}) ${selectList(carried.list())} from ${all.from()}${sorted}) ${alias}${condition}`
    return { scope: carried.scope, from }
  }
  return {
    isWhole: isPicked && distinct === undefined,
    read: (alias, extra, use) =>
      distinct === undefined ? plain(alias, extra, use === 'ordered') : firsts(alias, extra, distinct),
    wrap: (json) => {
      if (!runsOnce) return json
      const run = source.volatile ? ` from (select count(*) from ${rows}) ran` : ''
      return `(with ${rows} as materialized (select * from ${source.from()} f) select ${json}${run})`
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
