import type { ColumnBuilder } from '../../contract/builder.ts'
import { operators, type OperatorName } from '../../sql/operators.ts'
import type { Filter, Subject, Value } from '../plan/types.ts'
import type { Parameters } from './parameters.ts'
import { attributeOf } from './composite.ts'
import { columnOf, computedOf, joined, readFor, where, type Part, type Scope, type Writer } from './source.ts'

/** A condition for any alias; its values are bound once, however often it is written. */
export type Condition = (scope: Scope) => string

/** @param part what of the plan the rows are filtered for */
export function compileFilter(filter: Filter, writer: Writer, part: Part): Condition {
  const { parameters } = writer
  switch (filter.kind) {
    case 'all':
    case 'any': {
      const conditions = filter.of.map((inner) => compileFilter(inner, writer, part))
      const joint = filter.kind === 'all' ? ' and ' : ' or '
      return (scope) => `(${conditions.map((condition) => condition(scope)).join(joint)})`
    }
    case 'not': {
      const condition = compileFilter(filter.of, writer, part)
      return (scope) => `(not ${condition(scope)})`
    }
    case 'presence':
      return (scope) => `(${subjectOf(filter, scope).value} is ${filter.present ? 'not null' : 'null'})`
    case 'compare':
      return compare(filter, parameters)
    case 'spatial':
      return spatial(filter, parameters)
    case 'key':
      return keyEquals(filter.values, parameters)
    case 'related':
      return related(filter, writer, part)
  }
}

/** Three-valued conditions ask for what is true, so that a row of which it is unknown is not one of those that meet it. */
function related(filter: Extract<Filter, { kind: 'related' }>, writer: Writer, part: Part): Condition {
  const condition = filter.of === null ? null : compileFilter(filter.of, writer, part)
  return (scope) => {
    const there = readFor(writer, filter.entity, part)
    const met = condition?.(there) ?? null
    const wanted = met !== null && filter.quantifier === 'every' ? `${met} is not true` : met
    const rows = `(select from ${there.builder.relation} ${there.alias}${where([joined(filter.join, scope, there), wanted])})`
    return filter.quantifier === 'some' ? `exists ${rows}` : `(not exists ${rows})`
  }
}

function compare(filter: Extract<Filter, { kind: 'compare' }>, parameters: Parameters): Condition {
  const placeholder = parameters.add(filter.value)
  const { render } = operators[filter.operator as OperatorName]
  return (scope) => {
    const { value, type } = subjectOf(filter, scope)
    return `(${render(value, filter.operand === 'values' ? type.operands(placeholder) : type.operand(placeholder))})`
  }
}

function spatial(filter: Extract<Filter, { kind: 'spatial' }>, parameters: Parameters): Condition {
  const placeholder = parameters.add(filter.value)
  const distance = filter.distance === undefined ? [] : [`${parameters.add(filter.distance)}::float8`]
  return (scope) => {
    const { value, type } = subjectOf(filter, scope)
    const decides = type.spatial?.[filter.operator]
    if (decides === undefined) throw new Error(`nothing decides ${filter.operator} of ${value}`)
    return `${decides}(${[value, type.operand(placeholder), ...distance].join(', ')})`
  }
}

interface Compared {
  readonly value: string
  readonly type: Pick<ColumnBuilder, 'operand' | 'operands' | 'spatial'>
}

interface Looked extends Compared {
  readonly type: Pick<ColumnBuilder, 'operand' | 'operands' | 'spatial' | 'attributes'>
}

function subjectOf(subject: Subject, scope: Scope): Compared {
  if ('column' in subject) {
    const column: Looked = { value: scope.column(subject.column), type: columnOf(scope.builder, subject.column) }
    return (subject.path ?? []).reduce<Looked>(({ value, type }, name) => {
      const attribute = attributeOf(type.attributes, name)
      return { value: attribute.of(value), type: attribute }
    }, column)
  }
  const { of, operand, operands, spatial } = computedOf(scope, subject.computed)
  if (operand === undefined || operands === undefined) throw new Error(`there is no filter on ${subject.computed}`)
  return { value: of(scope.row(), []), type: { operand, operands, ...(spatial && { spatial }) } }
}

/** The key's columns equal these values. */
export function keyEquals(values: readonly Value[], parameters: Parameters): Condition {
  const placeholders = values.map((value) => parameters.add(value))
  return (scope) => {
    const equal = scope.entity.key.map((name, index) => {
      const operand = columnOf(scope.builder, name).operand(placeholders[index] ?? 'null')
      return `${scope.column(name)} = ${operand}`
    })
    return `(${equal.join(' and ')})`
  }
}
