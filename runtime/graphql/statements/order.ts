import type { Comparisons } from '../../contract/builder.ts'
import { hopsOf } from '../plan/joins.ts'
import type { OrderKey, OrderTerm, RankKey, RelatedKey, TypeKey } from '../plan/plan-nodes.ts'
import type { Value } from '../plan/values.ts'
import { isNotNull, isNull } from '../../sql/nulls.ts'
import { joined, sql, trusted, type Parameter, type Sql } from '../../sql/tree.ts'
import { valueParameter } from './parameters.ts'
import type { Condition, Scope } from './source.ts'

/** Orders and positions in them (spec/graphql.md 5.4 to 5.6). */

export const keyId = (key: TypeKey | RankKey | RelatedKey): string =>
  key.kind === 'type'
    ? 'type'
    : key.kind === 'rank'
      ? JSON.stringify([key.column, key.query.slot, key.config?.slot])
      : relatedId(key)

const relatedId = (key: RelatedKey): string =>
  stepId(key) + (key.kind === 'count' ? '' : typeof key.of === 'string' ? JSON.stringify(key.of) : keyId(key.of))

/** Identifies a relation of a row. */
export const stepId = ({ entity, join }: RelatedKey): string =>
  JSON.stringify(hopsOf(join, entity).map((hop) => [hop.entity.id, hop.join]))

export const sameKey = (left: OrderKey, right: OrderKey): boolean =>
  typeof left === 'string' || typeof right === 'string' ? left === right : keyId(left) === keyId(right)

/** The first mention of a column in an order decides; later mentions change nothing. */
export const withoutRepeats = (order: readonly OrderTerm[]): readonly OrderTerm[] =>
  order.filter((term, index) => order.findIndex((other) => sameKey(other.column, term.column)) === index)

export const reversed = (order: readonly OrderTerm[]): readonly OrderTerm[] =>
  order.map((term) => ({ ...term, descending: !term.descending, nullsFirst: !term.nullsFirst }))

/** The list of ORDER BY. A plain index serves only without a NULLS clause that repeats the default. */
export const orderBy = (order: readonly OrderTerm[], scope: Scope): readonly Sql[] =>
  withoutRepeats(order).map((term) => {
    const { notNull, value } = scope.ordered(term.column)
    const direction = term.descending ? sql` desc` : sql``
    const isDefault = notNull || term.nullsFirst === term.descending
    const nulls = isDefault ? sql`` : term.nullsFirst ? sql` nulls first` : sql` nulls last`
    return sql`${value}${direction}${nulls}`
  })

interface Element {
  readonly term: OrderTerm
  /** The cursor's value; null if it is a null. */
  readonly bound: Parameter | null
}

/**
 * The condition that a row comes strictly after a cursor. Rows that are equal in all elements of a shorter cursor are
 * excluded; with an empty cursor all rows are equal. A cursor names a column again if the order does; the first mention
 * decides.
 */
export function afterCursor(order: readonly OrderTerm[], values: readonly (Value | null)[]): Condition {
  const kept = withoutRepeats(order)
  const elements = kept.flatMap((term): Element[] => {
    const index = order.indexOf(term)
    if (index >= values.length) return []
    const value = values[index] ?? null
    return [{ term, bound: value === null ? null : valueParameter(value) }]
  })
  return (scope) => (isPlain(elements, scope) ? compareRows(elements, scope) : compareStepwise(elements, scope))
}

const operandOf = (scope: Scope, { term, bound }: Element): Sql =>
  scope.ordered(term.column).operand(bound ?? sql`null`)

function compared(scope: Scope, element: Element, symbol: keyof Comparisons): Sql {
  const { value, comparisons } = scope.ordered(element.term.column)
  return sql`${value} ${trusted(comparisons?.[symbol] ?? symbol)} ${operandOf(scope, element)}`
}

/** One direction, no nulls, operators of one name: a row comparison, which an index over the columns answers. */
function isPlain(elements: readonly Element[], scope: Scope): boolean {
  const descending = elements[0]?.term.descending
  return (
    elements.length > 0 &&
    elements.every(({ term, bound }) => {
      const { notNull, comparisons } = scope.ordered(term.column)
      return bound !== null && term.descending === descending && notNull && comparisons === undefined
    })
  )
}

function compareRows(elements: readonly Element[], scope: Scope): Sql {
  const operator = elements[0]?.term.descending === true ? sql`<` : sql`>`
  const columns = elements.map(({ term }) => scope.ordered(term.column).value)
  const values = elements.map((element) => operandOf(scope, element))
  return sql`((${joined(columns, ', ')}) ${operator} (${joined(values, ', ')}))`
}

function compareStepwise(elements: readonly Element[], scope: Scope): Sql {
  const [first, ...rest] = elements
  if (first === undefined) return sql`false`
  const after = isAfter(first, scope)
  if (rest.length === 0) return sql`(${after})`
  const stepwise = sql`(${after} or (${isEqual(first, scope)} and ${compareStepwise(rest, scope)}))`
  // Redundant, but an index scan can only start at a separate bound.
  return first.bound === null ? stepwise : sql`(${isNotBefore(first, scope)} and ${stepwise})`
}

/** The column's value is strictly after the cursor's, with nulls in the place of the order. */
function isAfter(element: Element, scope: Scope): Sql {
  const { term, bound } = element
  const column = scope.ordered(term.column).value
  if (bound === null) return term.nullsFirst ? isNotNull(column) : sql`false`
  const after = compared(scope, element, term.descending ? '<' : '>')
  return mayFollow(element, scope) ? sql`(${after} or ${isNull(column)})` : after
}

function isNotBefore(element: Element, scope: Scope): Sql {
  const from = compared(scope, element, element.term.descending ? '<=' : '>=')
  return mayFollow(element, scope) ? sql`(${from} or ${isNull(scope.ordered(element.term.column).value)})` : from
}

/** Whether nulls come after every value. */
const mayFollow = ({ term }: Element, scope: Scope): boolean => !term.nullsFirst && !scope.ordered(term.column).notNull

function isEqual(element: Element, scope: Scope): Sql {
  if (element.bound === null) return isNull(scope.ordered(element.term.column).value)
  return compared(scope, element, '=')
}
