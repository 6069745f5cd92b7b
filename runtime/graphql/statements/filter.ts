import type { ColumnBuilder } from '../../contract/builder.ts'
import type { Manifest } from '../../contract/manifest.ts'
import type { FormOperator, OperandMembers } from '../../sql/form.ts'
import type { FilterForm } from '../../engine/additions.ts'
import { ident } from '../../sql/ident.ts'
import { applied, joined, select, sql, trusted, written, type Sql } from '../../sql/tree.ts'
import { operators, ownOperators, type OperatorName } from '../../sql/operators.ts'
import type { Filter, Subject } from '../plan/plan-nodes.ts'
import type { Value } from '../plan/values.ts'
import { attributeOf } from './composite.ts'
import { valueParameter, nameOrParameter, statedOrParameter } from './parameters.ts'
import { ofMeant } from './meant.ts'
import {
  columnOf,
  computedOf,
  given,
  readFor,
  relationOf,
  type Condition,
  type Part,
  type Scope,
  type Writer,
} from './source.ts'
import { wayTo } from './tenants.ts'

declare module '../../engine/additions.ts' {
  interface FilterForm {
    readonly part?: (subject: Subject, value: Subjected) => Subjected
    readonly elements?: (filter: ElementsFilter, writer: Writer, part: Part) => Condition
  }
}

type ElementsFilter = Extract<Filter, { kind: 'elements' }>

/** @param part the part of the plan whose rows are filtered */
export function compileFilter(filter: Filter, writer: Writer, part: Part): Condition {
  switch (filter.kind) {
    case 'all':
    case 'any': {
      const conditions = filter.of.map((inner) => compileFilter(inner, writer, part))
      const between = filter.kind === 'all' ? ' and ' : ' or '
      return (scope) => {
        const all = conditions.map((condition) => condition(scope))
        return sql`(${joined(all, between)})`
      }
    }
    case 'not': {
      const condition = compileFilter(filter.of, writer, part)
      return (scope) => sql`(not ${condition(scope)})`
    }
    case 'presence': {
      const presence = filter.present ? sql`not null` : sql`null`
      return (scope) => sql`(${subjectOf(filter, scope, writer).value} is ${presence})`
    }
    case 'compare':
      return compare(filter, writer)
    case 'compare-column':
      return compareColumn(filter)
    case 'spatial':
      return spatial(filter, writer)
    case 'form':
      return ofForm(filter, writer)
    case 'elements':
      return ofElements(filter, writer, part)
    case 'key':
      return (scope) => keyEquals(scope.entity.key, filter.values)(scope)
    case 'meant':
      return (scope) => sql`(${joined(ofMeant(scope, filter.of), ' and ')})`
    case 'related':
      return related(filter, writer, part)
  }
}

/** Three-valued conditions use `is true`: NULL counts as no match. */
function related(filter: Extract<Filter, { kind: 'related' }>, writer: Writer, part: Part): Condition {
  const condition = filter.of === null ? null : compileFilter(filter.of, writer, part)
  return (scope) => {
    const {
      there,
      joins,
      on,
      met: stated,
    } = wayTo(writer, filter.join, scope, readFor(writer, filter.entity, part), part)
    const met = condition?.(there) ?? null
    const wanted = met !== null && filter.quantifier === 'every' ? sql`${met} is not true` : met
    const where = given([on, ...stated, wanted])
    const rows = select([], { from: [{ of: relationOf(there.builder), alias: there.alias, joins }], where })
    return filter.quantifier === 'some' ? sql`exists ${rows}` : sql`(not exists ${rows})`
  }
}

function compare(filter: Extract<Filter, { kind: 'compare' }>, writer: Writer): Condition {
  const operand = statedOrParameter(filter.value)
  const { render } = operators[filter.operator as OperatorName]
  return (scope) => {
    const { value, type } = subjectOf(filter, scope, writer)
    const own = ownOperators(type.order)
    // A pattern has no length to cut or pad to.
    const isText = filter.operand === 'pattern' && own('~~') === undefined
    const typed = isText
      ? sql`${operand}::text`
      : applied(filter.operand === 'values' ? type.operands : type.operand, operand)
    return sql`(${written(([left = '', right = '']) => render(left, right, own), [value, typed])})`
  }
}

function compareColumn({ column, operator, other }: Extract<Filter, { kind: 'compare-column' }>): Condition {
  const { render } = operators[operator]
  return (scope) => {
    const own = ownOperators(columnOf(scope.builder, column).order)
    const both = [scope.column(column), scope.column(other)]
    return sql`(${written(([left = '', right = '']) => render(left, right, own), both)})`
  }
}

function spatial(filter: Extract<Filter, { kind: 'spatial' }>, writer: Writer): Condition {
  const operand = valueParameter(filter.value)
  const distance = filter.distance === undefined ? [] : [sql`${valueParameter(filter.distance)}::float8`]
  return (scope) => {
    const { value, type } = subjectOf(filter, scope, writer)
    const decides = type.spatial?.[filter.operator]
    if (decides === undefined) throw new Error(`nothing decides ${filter.operator}`)
    return sql`${trusted(decides)}(${joined([value, applied(type.operand, operand), ...distance], ', ')})`
  }
}

function ofForm(filter: Extract<Filter, { kind: 'form' }>, writer: Writer): Condition {
  const operand = valueParameter(filter.value)
  const own = formIn(filter, writer)?.own[filter.operator]
  if (own === undefined) throw new Error(`there is no operator ${filter.operator}`)
  const beside = filter.beside === undefined || own.members === undefined ? [] : [besideOf(own.members, filter.beside)]
  const home = own.extension === undefined ? undefined : homeOf(writer.engine.manifest, own.extension)
  const write = ([value = '', text = '', other]: readonly string[]): string =>
    `(${own.render(value, text, other, home)})`
  return (scope) => {
    const { value, type } = subjectOf(filter, scope, writer)
    return written(write, [value, home === undefined ? castOperand(own, type, operand) : operand, ...beside])
  }
}

const castOperand = ({ cast }: FormOperator, { operand }: Subjected['type'], given: Sql): Sql =>
  cast === undefined ? applied(operand, given) : applied((text) => `${text}::${cast}`, given)

function homeOf({ extensions }: Manifest, name: string): string {
  const home = extensions?.[name]
  if (home === undefined) throw new Error(`there is no extension ${name}`)
  return ident(home)
}

const besideOf = ({ besideAs, isName }: OperandMembers, value: Value): Sql =>
  applied((text) => `${text}::${besideAs}`, isName === true ? nameOrParameter(value) : valueParameter(value))

const formIn = ({ form }: Subject, { engine }: Writer): FilterForm | undefined => engine.additions.forms.get(form ?? '')

function ofElements(filter: ElementsFilter, writer: Writer, part: Part): Condition {
  const condition = formIn(filter, writer)?.elements?.(filter, writer, part)
  if (condition === undefined) throw new Error(`there is no quantifier ${filter.quantifier}`)
  return condition
}

const missingElement = (): never => {
  throw new Error('there is no list around the condition')
}

export interface Subjected {
  readonly value: Sql
  readonly type: Pick<ColumnBuilder, 'operand' | 'operands' | 'order' | 'spatial'>
}

interface Looked extends Subjected {
  readonly type: Pick<ColumnBuilder, 'operand' | 'operands' | 'order' | 'spatial' | 'attributes'>
}

export function subjectOf(subject: Subject, scope: Scope, writer: Writer): Subjected {
  const form = formIn(subject, writer)
  const whole = valueOf(subject, scope)
  const type = form?.readAs
  const cast = (value: string): string => `(${value})::${type}`
  const read = type === undefined ? whole : castTo(type, applied(cast, whole.value))
  return form?.part?.(subject, read) ?? read
}

export const castTo = (type: string, value: Sql): Subjected => ({
  value,
  type: { operand: (parameter) => `${parameter}::${type}`, operands: (parameter) => `${parameter}::${type}[]` },
})

function valueOf(subject: Subject, scope: Scope): Subjected {
  if ('element' in subject) return scope.element ?? missingElement()
  if ('column' in subject) {
    const column: Looked = { value: scope.column(subject.column), type: columnOf(scope.builder, subject.column) }
    return (subject.path ?? []).reduce<Looked>(({ value, type }, name) => {
      const attribute = attributeOf(type.attributes, name)
      return { value: applied(attribute.of, value), type: attribute }
    }, column)
  }
  const { of, operand, operands, order, spatial } = computedOf(scope, subject.computed)
  if (operand === undefined || operands === undefined) throw new Error(`there is no filter on ${subject.computed}`)
  const value = applied((row) => of(row, []), scope.row())
  return { value, type: { operand, operands, ...(order && { order }), ...(spatial && { spatial }) } }
}

export function keyEquals(columns: readonly string[], values: readonly Value[]): Condition {
  const parameters = values.map(valueParameter)
  return (scope) => {
    const equal = columns.map((name, index) => {
      const { operand, order } = columnOf(scope.builder, name)
      return sql`${scope.column(name)} ${trusted(order?.['='] ?? '=')} ${applied(operand, parameters[index] ?? sql`null`)}`
    })
    return sql`(${joined(equal, ' and ')})`
  }
}
