import type { FilterForm } from '../../../runtime/engine/additions.ts'
import { compileFilter, subjectOf } from '../../../runtime/graphql/statements/filter.ts'
import { valueParameter } from '../../../runtime/graphql/statements/parameters.ts'
import { given, type Scope } from '../../../runtime/graphql/statements/source.ts'
import { select, sql, trusted, type Sql } from '../../../runtime/sql/tree.ts'

/**
 * A NULL list gives NULL. The condition that a list contains an element is written for its index; all other conditions
 * look at each element.
 */
export const ofElements: NonNullable<FilterForm['elements']> = (filter, writer, part) => {
  const { of, quantifier } = filter
  if (quantifier === 'some' && of?.kind === 'compare' && of.operator === 'eq') {
    const element = valueParameter(of.value)
    return (scope) => {
      const { value, type } = subjectOf(filter, scope, writer)
      return sql`(${value} @> array[${element}]${trusted(type.operand(''))})`
    }
  }
  const condition = of === null ? null : compileFilter(of, writer, part)
  return (scope) => {
    const { value, type } = subjectOf(filter, scope, writer)
    const alias = writer.alias('e')
    const inner = condition?.({ ...scope, element: elementOf(sql`${alias}.v`, type) }) ?? null
    const wanted = inner !== null && quantifier === 'every' ? sql`${inner} is not true` : inner
    const rows = select([], { from: [{ of: sql`pg_catalog.unnest(${value}) ${alias}(v)` }], where: given([wanted]) })
    const met = quantifier === 'some' ? sql`exists ${rows}` : sql`not exists ${rows}`
    return sql`(case when ${value} is not null then ${met} end)`
  }
}

type Element = NonNullable<Scope['element']>

/** Its operands are cast to the element type of the list. */
function elementOf(value: Sql, { operand }: Element['type']): Element {
  const cast = operand('').replace(/\[\]$/, '')
  return { value, type: { operand: (text) => `${text}${cast}`, operands: (text) => `${text}${cast}[]` } }
}
