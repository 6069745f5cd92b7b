import type { RelationFacts } from '../../contract/manifest.ts'
import type { Planner } from './planner.ts'
import type { Join } from './types.ts'

/** How a relation joins, with what stands in between. */
export function joinOf({ visible }: Pick<Planner, 'visible'>, { through, ...direct }: RelationFacts): Join {
  if (through === undefined) return direct
  const entity = visible.entity(through.entity)
  if (entity === undefined) throw new Error(`nothing leads through ${through.entity}`)
  return { ...direct, through: { ...through, entity } }
}
