import type { RelationFacts } from '../../contract/manifest.ts'
import { planDeleted } from './deleted.ts'
import type { Input } from './input.ts'
import type { Related } from '../../engine/related.ts'
import type { Planner } from './planner.ts'
import type { Join } from './types.ts'

/** How a relation joins, with what stands in between. */
export function joinOf({ visible }: Pick<Planner, 'visible'>, { through, ...direct }: RelationFacts): Join {
  if (through === undefined) return direct
  const entity = visible.entity(through.entity)
  if (entity === undefined) throw new Error(`nothing leads through ${through.entity}`)
  return { ...direct, through: { ...through, entity } }
}

/** How it joins rows of which deleted ones are none, unless an argument asks for them. */
export const joinTo = (planner: Pick<Planner, 'visible'>, { relation, target }: Related, deleted?: Input): Join => ({
  ...joinOf(planner, relation),
  ...planDeleted(target, deleted),
})
