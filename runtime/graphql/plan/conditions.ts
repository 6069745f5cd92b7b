import type { ColumnFacts, ObjectId } from '../../contract/manifest.ts'
import { formOf } from '../../contract/facts.ts'
import type { ValueType } from '../../contract/manifest.ts'
import type { FilterForm } from '../../engine/additions.ts'
import { isGeo, type RoleVisibility } from '../../engine/view.ts'
import { operators, type CountedElements, type Operator, type OperatorName } from '../../sql/operators.ts'
import type { SpatialOperatorName } from '../../sql/spatial.ts'
import { badArgument } from '../protocol/failures.ts'
import { memberOf, slotOf, type Input } from './input.ts'
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
  readonly form: FilterForm | undefined
  readonly list: boolean
  readonly geo: boolean
}

declare module '../../engine/additions.ts' {
  interface FilterForm {
    /** The conditions of a member of its filter without an operator; null: the member has one. */
    readonly plan?: (subject: Subject, name: string, operand: Input) => readonly Filter[] | null
  }
}

export const comparedAs = ({ forms }: RoleVisibility, subject: Subject, type: ValueType | null): Compared => ({
  subject,
  form: forms.get(formOf(type) ?? ''),
  list: type?.list === true,
  geo: isGeo(type),
})

export const planColumn = (visible: RoleVisibility, column: ColumnFacts, input: Input): Filter | null =>
  column.type?.kind === 'composite'
    ? planAttributes(visible, column.column, [], column.type.id, input)
    : planValue(comparedAs(visible, { column: column.column }, column.type), input)

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
        : planValue(comparedAs(visible, { column, path: inner }, item.type), value)
    return condition === null ? [] : [condition]
  })
  return combined('all', conditions)
}

export function planValue(compared: Compared, input: Input): Filter | null {
  if (input.kind !== 'object') return null
  if (compared.form !== undefined) return planForm(compared, compared.form, input)
  return combined(
    'all',
    input.fields.map(([name, operand]) => planOne(compared, name, operand)),
  )
}

const planOne = (compared: Compared, name: string, operand: Input): Filter =>
  compared.geo && name !== 'is'
    ? planSpatial(compared, name as SpatialOperatorName, operand)
    : planOperator(compared, name as OperatorName, operand)

/** Values whose filter an addition defines. */
function planForm(compared: Compared, form: FilterForm, input: Extract<Input, { kind: 'object' }>): Filter | null {
  const subject = { ...compared.subject, form: form.name }
  // Only an unconverted subject can be part of a policy or a watch.
  const usual = form.readAs === undefined ? compared : { ...compared, subject }
  const conditions = input.fields.flatMap(
    ([name, operand]) =>
      form.plan?.(subject, name, operand) ?? [
        planOwnOperator(subject, form, name, operand) ?? planOperator(usual, name as OperatorName, operand),
      ],
  )
  return combined('all', conditions)
}

const nullSlot: Slot = { kind: 'constant', value: null }

function planOperator({ subject, list }: Compared, operator: OperatorName, operand: Input): Filter {
  const { operand: wants, counted }: Operator = operators[operator]
  if (wants === 'presence') {
    if (operand.kind !== 'leaf') throw badArgument('Error transpiling Is filter value type')
    return { kind: 'presence', ...subject, present: operand.value === 'NOT_NULL' }
  }
  const slot = operand.kind === 'leaf' ? operand.slot : nullSlot
  const isArray = wants === 'values' || list
  // The length rule concerns written values (spec/graphql.md 3.4).
  const value = (isArray ? array : scalar)(slot, counted)
  return { kind: 'compare', ...subject, operator, operand: wants, value }
}

/** Geometric conditions; they are not true for NULL and for a null geometry. */
function planSpatial({ subject }: Compared, operator: SpatialOperatorName, operand: Input): Filter {
  if (operator !== 'dWithin') return { kind: 'spatial', ...subject, operator, value: scalar(slotOf(operand)) }
  const given = new Map(operand.kind === 'object' ? operand.fields : [])
  const slot = (name: string): Slot => slotOf(given.get(name) ?? { kind: 'null' })
  const distance: Value = { slot: slot('distance'), encoding: { kind: 'distance' } }
  return { kind: 'spatial', ...subject, operator, value: scalar(slot('geometry')), distance }
}

const unlimited =
  (kind: 'scalar' | 'array') =>
  (slot: Slot, counted?: CountedElements): Value => ({
    slot,
    encoding: { kind, maxLength: null, ...(counted !== undefined && { counted }) },
  })
const scalar = unlimited('scalar')
const array = unlimited('array')

/** The condition of an operator that belongs to the form; null if it is a common operator. */
function planOwnOperator(subject: Subject, form: FilterForm, operator: string, operand: Input): Filter | null {
  const own = form.own[operator]
  if (own === undefined) return null
  if (own.members === undefined) {
    const value = (own.list === true ? array : scalar)(slotOf(operand), own.counted)
    return { kind: 'form', ...subject, operator, value }
  }
  const [first, second] = own.members.names.map((name) => memberOf(operand, name))
  const value = scalar(slotOf(first ?? operand))
  const beside = second === undefined || second.kind === 'null' ? {} : { beside: scalar(slotOf(second)) }
  return { kind: 'form', ...subject, operator, value, ...beside }
}

/** SQL name of the column whose whole values are compared; null for parts of them and other subjects. */
export const comparedColumn = (subject: Subject): string | null =>
  'column' in subject && subject.path === undefined && subject.form === undefined ? subject.column : null
