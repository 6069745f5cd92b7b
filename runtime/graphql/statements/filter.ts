import type { ColumnBuilder } from '../../contract/builder.ts'
import type { ExtensionName } from '../../contract/filter-forms.ts'
import type { Manifest } from '../../contract/manifest.ts'
import { arrayText } from '../../sql/array-text.ts'
import type { FormOperator, OperandMembers } from '../../sql/form.ts'
import { forms } from '../../sql/forms.ts'
import { jsonParts } from '../../sql/json-form.ts'
import { ident } from '../../sql/ident.ts'
import { literal, applied, joined, select, sql, trusted, written, type Sql } from '../../sql/tree.ts'
import { operators, ownOperators, type OperatorName } from '../../sql/operators.ts'
import type { Filter, Subject } from '../plan/plan-nodes.ts'
import type { Value } from '../plan/values.ts'
import { attributeOf } from './composite.ts'
import { valueParameter, isPlainWord, nameOrParameter, statedOrParameter } from './parameters.ts'
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
      return (scope) => sql`(${subjectOf(filter, scope).value} is ${presence})`
    }
    case 'compare':
      return compare(filter)
    case 'compare-column':
      return compareColumn(filter)
    case 'spatial':
      return spatial(filter)
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

function compare(filter: Extract<Filter, { kind: 'compare' }>): Condition {
  const operand = statedOrParameter(filter.value)
  const { render } = operators[filter.operator as OperatorName]
  return (scope) => {
    const { value, type } = subjectOf(filter, scope)
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

function spatial(filter: Extract<Filter, { kind: 'spatial' }>): Condition {
  const operand = valueParameter(filter.value)
  const distance = filter.distance === undefined ? [] : [sql`${valueParameter(filter.distance)}::float8`]
  return (scope) => {
    const { value, type } = subjectOf(filter, scope)
    const decides = type.spatial?.[filter.operator]
    if (decides === undefined) throw new Error(`nothing decides ${filter.operator}`)
    return sql`${trusted(decides)}(${joined([value, applied(type.operand, operand), ...distance], ', ')})`
  }
}

function ofForm(filter: Extract<Filter, { kind: 'form' }>, { engine }: Writer): Condition {
  const operand = valueParameter(filter.value)
  const own = filter.form === undefined ? undefined : forms[filter.form].own[filter.operator]
  if (own === undefined) throw new Error(`there is no operator ${filter.operator}`)
  const beside = filter.beside === undefined || own.members === undefined ? [] : [besideOf(own.members, filter.beside)]
  const home = own.extension === undefined ? undefined : homeOf(engine.manifest, own.extension)
  const write = ([value = '', text = '', other]: readonly string[]): string =>
    `(${own.render(value, text, other, home)})`
  return (scope) => {
    const { value, type } = subjectOf(filter, scope)
    return written(write, [value, home === undefined ? castOperand(own, type, operand) : operand, ...beside])
  }
}

const castOperand = ({ cast }: FormOperator, { operand }: Compared['type'], given: Sql): Sql =>
  cast === undefined ? applied(operand, given) : applied((text) => `${text}::${cast}`, given)

function homeOf({ extensions }: Manifest, name: ExtensionName): string {
  const home = extensions?.[name]
  if (home === undefined) throw new Error(`there is no extension ${name}`)
  return ident(home)
}

const besideOf = ({ besideAs, isName }: OperandMembers, value: Value): Sql =>
  applied((text) => `${text}::${besideAs}`, isName === true ? nameOrParameter(value) : valueParameter(value))

/**
 * A NULL list gives NULL. The condition that a list contains an element is written for its index; all other conditions
 * look at each element.
 */
function ofElements(filter: Extract<Filter, { kind: 'elements' }>, writer: Writer, part: Part): Condition {
  const { of, quantifier } = filter
  if (quantifier === 'some' && of?.kind === 'compare' && of.operator === 'eq') {
    const element = valueParameter(of.value)
    return (scope) => {
      const { value, type } = subjectOf(filter, scope)
      return sql`(${value} @> array[${element}]${trusted(type.operand(''))})`
    }
  }
  const condition = of === null ? null : compileFilter(of, writer, part)
  return (scope) => {
    const { value, type } = subjectOf(filter, scope)
    const alias = writer.alias('e')
    const inner = condition?.({ ...scope, element: elementOf(sql`${alias}.v`, type) }) ?? null
    const wanted = inner !== null && quantifier === 'every' ? sql`${inner} is not true` : inner
    const rows = select([], { from: [{ of: sql`pg_catalog.unnest(${value}) ${alias}(v)` }], where: given([wanted]) })
    const met = quantifier === 'some' ? sql`exists ${rows}` : sql`not exists ${rows}`
    return sql`(case when ${value} is not null then ${met} end)`
  }
}

const missingElement = (): never => {
  throw new Error('there is no list around the condition')
}

/** Its operands are cast to the element type of the list. */
function elementOf(value: Sql, { operand }: Compared['type']): Compared {
  const cast = operand('').replace(/\[\]$/, '')
  return { value, type: { operand: (text) => `${text}${cast}`, operands: (text) => `${text}${cast}[]` } }
}

interface Compared {
  readonly value: Sql
  readonly type: Pick<ColumnBuilder, 'operand' | 'operands' | 'order' | 'spatial'>
}

interface Looked extends Compared {
  readonly type: Pick<ColumnBuilder, 'operand' | 'operands' | 'order' | 'spatial' | 'attributes'>
}

/** The compared value, read by its form and path. */
function subjectOf(subject: Subject, scope: Scope): Compared {
  const { form, at = [] } = subject
  const whole = valueOf(subject, scope)
  const type = form === undefined ? undefined : forms[form].readAs
  const read =
    type === undefined
      ? whole
      : castTo(
          type,
          applied((value) => `(${value})::${type}`, whole.value),
        )
  return at.reduce(({ value }, { path, as }) => {
    const { cast, render } = jsonParts[as]
    const found = written(([from = '', to = '']) => render(from, `${to}::text[]`), [value, pathOf(path)])
    return castTo(cast, found)
  }, read)
}

/**
 * A path that the document gives literally is part of the statement, like names of columns: with a parameter, a generic
 * plan could not use an index on the expression.
 */
function pathOf({ slot }: Value): Sql {
  const items = slot.kind === 'list' ? slot.items : []
  const words = items.flatMap((item) => (isPlainWord(item) ? [item.value] : []))
  return slot.kind === 'list' && words.length === items.length
    ? literal(arrayText(words))
    : valueParameter({ slot, encoding: { kind: 'array', maxLength: null } })
}

/** A value that is compared as another type. */
const castTo = (type: string, value: Sql): Compared => ({
  value,
  type: { operand: (parameter) => `${parameter}::${type}`, operands: (parameter) => `${parameter}::${type}[]` },
})

function valueOf(subject: Subject, scope: Scope): Compared {
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

/** The condition that the columns equal these values. */
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
