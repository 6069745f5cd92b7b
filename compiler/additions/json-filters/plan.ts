import type { FilterForm } from '../../../runtime/engine/additions.ts'
import { planValue } from '../../../runtime/graphql/plan/conditions.ts'
import { memberOf, slotOf, type Input } from '../../../runtime/graphql/plan/input.ts'
import type { Filter, Subject } from '../../../runtime/graphql/plan/plan-nodes.ts'
import { refuse } from '../../../runtime/graphql/protocol/failures.ts'
import type { JsonPartName } from './statements.ts'

/** Each nested condition repeats all steps to it, so that statements grow with the square of the steps. */
const maxSteps = 32

/**
 * Conditions on values at paths of a JSON value.
 *
 * @param form of parts that are JSON values; the scalar of others decides
 * @throws Refusal if they are nested too deeply
 */
export function planPaths(subject: Subject, input: Input, form: FilterForm): readonly Filter[] {
  if (input.kind !== 'list') return []
  if ((subject.at ?? []).length >= maxSteps)
    throw refuse('DOCUMENT_TOO_DEEP', `Conditions on paths lie in each other more than ${maxSteps} deep.`)
  return input.items.flatMap((item) => {
    const path = { slot: slotOf(memberOf(item, 'at')), encoding: { kind: 'array', maxLength: null } } as const
    const parts = item.kind === 'object' ? item.fields.filter(([name]) => name !== 'at') : []
    return parts.flatMap(([name, conditions]) => {
      const part = { ...subject, at: [...(subject.at ?? []), { path, as: name as JsonPartName }] }
      const compared = { subject: part, form: name === 'json' ? form : undefined, list: false, geo: false }
      return planValue(compared, conditions) ?? []
    })
  })
}
