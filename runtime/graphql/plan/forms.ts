import type { FormName } from '../../contract/filter-forms.ts'
import { forms } from '../../sql/forms.ts'
import { jsonParts, type JsonPartName } from '../../sql/json-form.ts'
import { refuse } from '../protocol/failures.ts'
import { memberOf, slotOf, type Input } from './input.ts'
import type { Filter, Subject } from './plan-nodes.ts'
import type { Slot, Value } from './values.ts'

/** Conditions on values whose filters come from additions (spec/graphql.md 17). */

const scalar = (slot: Slot): Value => ({ slot, encoding: { kind: 'scalar', maxLength: null } })
const array = (slot: Slot): Value => ({ slot, encoding: { kind: 'array', maxLength: null } })

/** The condition of an operator that belongs to the form; null if it is a common operator. */
export function planOwnOperator(subject: Subject, form: FormName, operator: string, operand: Input): Filter | null {
  const own = forms[form].own[operator]
  if (own === undefined) return null
  if (own.members === undefined) {
    const value = (own.list === true ? array : scalar)(slotOf(operand))
    return { kind: 'form', ...subject, operator, value }
  }
  const [first, second] = own.members.names.map((name) => memberOf(operand, name))
  const value = scalar(slotOf(first ?? operand))
  const beside = second === undefined || second.kind === 'null' ? {} : { beside: scalar(slotOf(second)) }
  return { kind: 'form', ...subject, operator, value, ...beside }
}

/** Plans the conditions of a filter on a subject. */
type PlanConditions = (subject: Subject, input: Input) => Filter | null

/** Each nested condition repeats all steps to it, so that statements grow with the square of the steps. */
const maxSteps = 32

/**
 * Conditions on values at paths of a JSON value.
 * @throws Refusal if they are nested too deeply
 */
export function planPaths(subject: Subject, input: Input, plan: PlanConditions): readonly Filter[] {
  if (input.kind !== 'list') return []
  if ((subject.at ?? []).length >= maxSteps)
    throw refuse('DOCUMENT_TOO_DEEP', `Conditions on paths lie in each other more than ${maxSteps} deep.`)
  return input.items.flatMap((item) => {
    const path = array(slotOf(memberOf(item, 'at')))
    const parts = item.kind === 'object' ? item.fields.filter(([name]) => name !== 'at') : []
    return parts.flatMap(([name, conditions]) => {
      const at = [...(subject.at ?? []), { path, as: name as JsonPartName }]
      return plan({ ...subject, at }, conditions) ?? []
    })
  })
}

/** SQL name of the column whose whole values are compared; null for parts of them and other subjects. */
export const comparedColumn = (subject: Subject): string | null =>
  'column' in subject && subject.path === undefined && subject.at === undefined && subject.form === undefined
    ? subject.column
    : null

/** The form in which a part of a JSON value is compared; undefined if its scalar decides. */
export const formOfPart = (part: JsonPartName): FormName | undefined =>
  jsonParts[part].scalar === 'JSON' ? 'json' : undefined
