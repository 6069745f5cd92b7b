import { select } from '../../../runtime/sql/tree.ts'
import type { Collection, OrderTerm } from '../../../runtime/graphql/plan/plan-nodes.ts'
import { orderKeys, type ReadRows } from '../../../runtime/graphql/statements/matching.ts'
import { orderBy, sameKey } from '../../../runtime/graphql/statements/order.ts'
import { joinRelated } from '../../../runtime/graphql/statements/related.ts'
import { given, seenOutside, type Writer } from '../../../runtime/graphql/statements/source.ts'

/** The first row of each combination of values. */
export function readRows(writer: Writer, collection: Collection, all: ReadRows): ReadRows {
  const { order, distinct = [] } = collection
  return (alias, extra, keys) => {
    const { scope: inner, ...rest } = all(writer.alias('t'), null, orderKeys(collection))
    const { scope: seen, outlet } = seenOutside(inner, alias)
    // Joins for the order are visible outside; other keys are joined there.
    const further = keys.filter((key) => !order.some(({ column }) => sameKey(column, key)))
    const { scope, joins } = joinRelated(writer, seen, collection, further, null)
    const distinctOn = distinct.map((column) => inner.column(column))
    const of = select([{ value: outlet }], {
      distinctOn,
      ...rest,
      orderBy: orderBy(firstsOrder(order, distinct), inner),
    })
    return { scope, from: [{ of, alias, joins }], where: given([extra]).map((condition) => condition(scope)) }
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
