import type { EntityFacts } from '../../../runtime/contract/manifest.ts'
import { planFilter } from '../../../runtime/graphql/plan/filter.ts'
import { absent, type Args } from '../../../runtime/graphql/plan/input.ts'
import { presetsOf } from '../../../runtime/graphql/plan/inputs.ts'
import { amongMeant } from '../../../runtime/graphql/plan/meant.ts'
import type { OnConflict } from '../../../runtime/graphql/plan/plan-nodes.ts'
import type { Planner } from '../../../runtime/graphql/plan/planner.ts'
import { badArgument } from '../../../runtime/graphql/protocol/failures.ts'

/** `onConflict` (spec/graphql.md 17): names of keys and columns are values of enums. */
export function planConflict(planner: Planner, entity: EntityFacts, args: Args): OnConflict | null {
  const input = args('onConflict')
  if (input.kind !== 'object') return null
  const given = new Map(input.fields)
  const [key, fields, filter] = ['constraint', 'updateFields', 'filter'].map((name) => given.get(name))
  // Only with validation off it may be missing.
  if (key?.kind !== 'leaf') throw badArgument('Invalid input for NonNull type')
  const update = fields?.kind === 'leaf' ? [...new Set(fields.value as readonly string[])] : []
  if (update.length === 0) return { key: String(key.value), update, filter: null }
  const condition = filter === undefined ? null : planFilter(planner, entity, filter)
  return {
    key: String(key.value),
    update,
    filter: amongMeant(planner.visible, entity, condition, (name) => given.get(name) ?? absent),
    ...presetsOf(planner, entity, 'update'),
  }
}
