import type { EntityFacts } from '../../contract/manifest.ts'
import { defaultFilterOf } from '../../engine/visible.ts'
import { planFilter } from './filter.ts'
import type { Input } from './input.ts'
import type { Planner } from './planner.ts'
import { planStated } from './stated.ts'
import type { Filter } from './plan-nodes.ts'

/** The given order, or else that of the relation's comment (spec/graphql.md 17.5). */
export const planChosen = (planner: Planner, entity: EntityFacts, input: Input): Filter | null =>
  input.kind === 'absent'
    ? planStated(planner.visible, defaultFilterOf(planner.visible, entity))
    : planFilter(planner, entity, input)
