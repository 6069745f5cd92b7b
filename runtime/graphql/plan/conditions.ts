import type { ColumnFacts, ObjectId } from '../../contract/manifest.ts'
import type { FormName } from '../../contract/filter-forms.ts'
import { formOf, hasElementFilter } from '../../contract/facts.ts'
import { isGeo, type RoleVisibility } from '../../engine/view.ts'
import { forms } from '../../sql/forms.ts'
import { operators, type OperatorName } from '../../sql/operators.ts'
import { isQuantifier, type ElementQuantifier } from '../../sql/quantifiers.ts'
import type { SpatialOperatorName } from '../../sql/spatial.ts'
import { badArgument } from '../protocol/failures.ts'
import { formOfPart, planOwnOperator, planPaths } from './forms.ts'
import { slotOf, type Input } from './input.ts'
import type { Filter, Subject } from './plan-nodes.ts'
import type { Slot, Value } from './values.ts'

/** Conditions on values of single rows (spec/graphql.md 4.1, 17.1). */

export function combined(kind: 'all' | 'any', conditions: readonly Filter[]): Filter | null {
  const [first] = conditions
  if (first === undefined) return null
  return conditions.length === 1 ? first : { kind, of: conditions }
}

/** The compared value, and the type of its operands. */
export interface Compared {
  readonly subject: Subject
  readonly form: FormName | undefined
  readonly list: boolean
  /** Whether conditions on its elements exist. */
  readonly elements?: boolean
  readonly geo: boolean
}

const columnSubject = ({ column, type }: ColumnFacts): Compared => ({
  subject: { column },
  form: formOf(type),
  list: type?.list === true,
  elements: hasElementFilter(type),
  geo: isGeo(type),
})

/** The conditions of a filter on a column. */
export const planColumn = (visible: RoleVisibility, column: ColumnFacts, input: Input): Filter | null =>
  column.type?.kind === 'composite'
    ? planAttributes(visible, column.column, [], column.type.id, input)
    : planValue(columnSubject(column), input)

/** Conditions on attributes of a composite value; an empty filter is not a condition. */
function planAttributes(
  visible: RoleVisibility,
  column: string,
  path: readonly string[],
  id: ObjectId,
  input: Input,
): Filter | null {
  const composite = visible.composite(id)
  if (input.kind !== 'object' || composite === undefined) return null
  const attributes = new Map(visible.comparableAttributes(composite).map((item) => [item.field, item]))
  const conditions = input.fields.flatMap(([name, value]): readonly Filter[] => {
    const item = attributes.get(name)
    if (item === undefined) return []
    const inner = [...path, item.attribute]
    const condition =
      item.type.kind === 'composite'
        ? planAttributes(visible, column, inner, item.type.id, value)
        : planValue(
            {
              subject: { column, path: inner },
              form: formOf(item.type),
              list: item.type.list,
              elements: hasElementFilter(item.type),
              geo: isGeo(item.type),
            },
            value,
          )
    return condition === null ? [] : [condition]
  })
  return combined('all', conditions)
}

/** The conditions of a filter on a value. */
export function planValue(compared: Compared, input: Input): Filter | null {
  if (input.kind !== 'object') return null
  if (compared.form !== undefined) return planForm(compared, compared.form, input)
  const conditions = input.fields.flatMap(([name, operand]): readonly Filter[] => {
    const isOfElements = compared.elements === true && isQuantifier(name)
    const condition = isOfElements ? planElements(compared, name, operand) : planOne(compared, name, operand)
    return condition === null ? [] : [condition]
  })
  return combined('all', conditions)
}

const planOne = (compared: Compared, name: string, operand: Input): Filter =>
  compared.geo && name !== 'is'
    ? planSpatial(compared, name as SpatialOperatorName, operand)
    : planOperator(compared, name as OperatorName, operand)

/** Conditions on the elements of a list; an empty `every` is not a condition. */
function planElements({ subject }: Compared, quantifier: ElementQuantifier, input: Input): Filter | null {
  if (input.kind !== 'object') return null
  const element: Compared = { subject: { element: true }, form: undefined, list: false, geo: false }
  const of = planValue(element, input)
  return of === null && quantifier === 'every' ? null : { kind: 'elements', ...subject, quantifier, of }
}

/** Values whose filter an addition defines. */
function planForm(compared: Compared, form: FormName, input: Extract<Input, { kind: 'object' }>): Filter | null {
  const subject = { ...compared.subject, form }
  // Only an unconverted subject can be part of a policy or a watch.
  const usual = forms[form].readAs === undefined ? compared : { ...compared, subject }
  const conditions = input.fields.flatMap(([name, operand]) =>
    form === 'json' && name === 'path'
      ? planPaths(subject, operand, (at, inner) => planValue({ ...compared, ...partOf(at) }, inner))
      : [planOwnOperator(subject, form, name, operand) ?? planOperator(usual, name as OperatorName, operand)],
  )
  return combined('all', conditions)
}

/** The subject at the last step of a path. */
function partOf(subject: Subject): Pick<Compared, 'subject' | 'form'> {
  const last = subject.at?.at(-1)
  return { subject, form: last === undefined ? subject.form : formOfPart(last.as) }
}

const nullSlot: Slot = { kind: 'constant', value: null }

function planOperator({ subject, list }: Compared, operator: OperatorName, operand: Input): Filter {
  const { operand: wants } = operators[operator]
  if (wants === 'presence') {
    if (operand.kind !== 'leaf') throw badArgument('Error transpiling Is filter value type')
    return { kind: 'presence', ...subject, present: operand.value === 'NOT_NULL' }
  }
  const slot = operand.kind === 'leaf' ? operand.slot : nullSlot
  const isArray = wants === 'values' || list
  // The length rule concerns written values (spec/graphql.md 3.4).
  const value: Value = { slot, encoding: { kind: isArray ? 'array' : 'scalar', maxLength: null } }
  return { kind: 'compare', ...subject, operator, operand: wants, value }
}

/** Geometric conditions; they are not true for NULL and for a null geometry. */
function planSpatial({ subject }: Compared, operator: SpatialOperatorName, operand: Input): Filter {
  const value = (slot: Slot): Value => ({ slot, encoding: { kind: 'scalar', maxLength: null } })
  if (operator !== 'dWithin') return { kind: 'spatial', ...subject, operator, value: value(slotOf(operand)) }
  const given = new Map(operand.kind === 'object' ? operand.fields : [])
  const slot = (name: string): Slot => slotOf(given.get(name) ?? { kind: 'null' })
  const distance: Value = { slot: slot('distance'), encoding: { kind: 'distance' } }
  return { kind: 'spatial', ...subject, operator, value: value(slot('geometry')), distance }
}
