import type { EntityFacts } from '../../contract/manifest.ts'
import { defaultFilterOf } from '../../engine/default-filter.ts'
import { planFilter } from './filter.ts'
import type { Input } from './input.ts'
import type { Planner } from './planner.ts'
import type { Filter } from './types.ts'

/** What the caller asked for; where nothing is given what the relation's comment says (spec/graphql.md 17.5). */
export function planChosen(planner: Planner, entity: EntityFacts, input: Input): Filter | null {
  if (input.kind !== 'absent') return planFilter(planner, entity, input)
  const conditions = defaultFilterOf(planner.visible, entity).map(
    ({ field, operator, value }) => [field, objectOf([[operator, leafOf(value)]])] as const,
  )
  return planFilter(planner, entity, objectOf(conditions))
}

const leafOf = (value: unknown): Input => ({ kind: 'leaf', slot: { kind: 'constant', value }, value })

const objectOf = (fields: Extract<Input, { kind: 'object' }>['fields']): Input => ({
  kind: 'object',
  slot: { kind: 'constant', value: null },
  fields,
})
