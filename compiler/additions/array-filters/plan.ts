import { planValue } from '../../../runtime/graphql/plan/conditions.ts'
import type { Input } from '../../../runtime/graphql/plan/input.ts'
import type { Filter, Subject } from '../../../runtime/graphql/plan/plan-nodes.ts'

/** Conditions on the elements of a list; an empty `every` is not a condition. */
export function planElements(subject: Subject, quantifier: string, input: Input): readonly Filter[] {
  if (input.kind !== 'object') return []
  const of = planValue({ subject: { element: true }, form: undefined, list: false, geo: false }, input)
  return of === null && quantifier === 'every' ? [] : [{ kind: 'elements', ...subject, quantifier, of }]
}
