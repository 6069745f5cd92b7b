import type { EntityFacts, ObjectId, RelationFacts } from '../../contract/manifest.ts'
import type { ConditionFacts } from '../../contract/stated.ts'
import type { Related } from '../../engine/related.ts'
import type { RoleVisibility } from '../../engine/view.ts'
import { statedConditions } from '../../engine/visible.ts'
import type { Args } from './input.ts'
import { planMeant } from './meant.ts'
import { planStated } from './stated.ts'
import type { Filter, Hop, Join, OrderKey, RelatedKey } from './plan-nodes.ts'

interface JoinPlanner {
  readonly visible: RoleVisibility
}

export function joinOf({ visible }: JoinPlanner, { local, foreign, target, way }: RelationFacts): Join {
  if (way === undefined) return { local, foreign }
  const { through, where, repeats } = way
  return {
    local,
    foreign,
    ...chosen(visible, entityOf(visible, target), where),
    ...(through.length > 0 && {
      through: through.map(({ entity, near, far, where: whereThere }) => {
        const between = entityOf(visible, entity)
        return { entity: between, near, far, ...planMeant(visible, between), ...chosen(visible, between, whereThere) }
      }),
    }),
    ...(repeats && { repeats }),
  }
}

function entityOf(visible: RoleVisibility, id: ObjectId): EntityFacts {
  const entity = visible.entity(id)
  if (entity === undefined) throw new Error(`nothing leads through ${id}`)
  return entity
}

function chosen(
  visible: RoleVisibility,
  entity: EntityFacts,
  where: readonly ConditionFacts[] = [],
): { readonly filter?: Filter } {
  const filter = planStated(visible, statedConditions(visible, entity, where))
  return filter === null ? {} : { filter }
}

/** The joins on the path to rows of a relation, each between two relations. */
export function hopsOf({ local, foreign, filter, meant, through = [] }: Join, target: EntityFacts): readonly Hop[] {
  const places = [
    ...through,
    { entity: target, near: foreign, far: [], ...(filter && { filter }), ...(meant && { meant }) },
  ]
  return places.map((place, index) => ({
    entity: place.entity,
    join: {
      local: places[index - 1]?.far ?? local,
      foreign: place.near,
      ...(place.filter && { filter: place.filter }),
      ...(place.meant && { meant: place.meant }),
    },
  }))
}

/** Whether exactly one intermediate row connects each pair of rows. */
export const isConnected = ({ through = [], repeats }: Join): boolean => through.length === 1 && repeats !== true

/** A key of the row at the end of a to-one relation, as a key of the rows here. */
export function keyThere(planner: JoinPlanner, { relation, target }: Related): (of: OrderKey) => RelatedKey {
  const always = relation.always === true
  const hops = hopsOf(joinTo(planner, { relation, target }), target)
  return (of) => hops.reduceRight<OrderKey>((key, hop) => ({ kind: 'one', ...hop, always, of: key }), of) as RelatedKey
}

/** The join to the rows that are meant, with the arguments of a field where there are any. */
export const joinTo = (planner: JoinPlanner, { relation, target }: Related, args?: Args): Join => ({
  ...joinOf(planner, relation),
  ...planMeant(planner.visible, target, args),
})
