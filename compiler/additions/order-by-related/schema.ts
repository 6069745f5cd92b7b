import { GraphQLInputObjectType } from 'graphql'
import type { SchemaAddition } from '../../../runtime/engine/additions.ts'
import { relationsBut, type Related } from '../../../runtime/engine/related.ts'
import { orderByDirection } from '../../../runtime/engine/schema/scalars.ts'
import { relatedInput } from '../../../runtime/engine/schema/related.ts'
import type { MakePart } from '../../../runtime/engine/schema/types.ts'
import type { Input } from '../../../runtime/graphql/plan/input.ts'
import { joinTo, keyThere } from '../../../runtime/graphql/plan/joins.ts'
import { planTerm, planTerms } from '../../../runtime/graphql/plan/order.ts'
import type { OrderKey, OrderTerm } from '../../../runtime/graphql/plan/plan-nodes.ts'
import type { Planner } from '../../../runtime/graphql/plan/planner.ts'
import { parts } from './facts.ts'

const makeRelationOrderBy: MakePart = (entity, types) =>
  new GraphQLInputObjectType({
    name: entity.name + parts.relationOrderBy,
    ...types.alternatives(entity),
    description: `What of the rows of ${entity.name} that belong to a row can be sorted by.`,
    fields: { count: { type: orderByDirection, description: 'Sort by how many there are, in this direction.' } },
  })

function planRelatedOrder(
  planner: Planner,
  related: Related,
  input: Input,
  from: (key: OrderKey) => OrderKey,
): readonly OrderTerm[] {
  if (input.kind !== 'object') return []
  planner.countRelated()
  const { relation, target } = related
  if (relation.shape === 'many') {
    const count = from({ kind: 'count', entity: target, join: joinTo(planner, related) })
    return input.fields.flatMap(([, direction]) => planTerm(count, direction))
  }
  const there = keyThere(planner, related)
  return planTerms(planner, target, input, (key) => from(there(key)))
}

export const orderByRelated: SchemaAddition = {
  name: 'orderByRelated',
  parts,
  makers: () => ({ relationOrderBy: makeRelationOrderBy }),
  /** Collections are sorted by their count, and a single row by its values, if some can be sorted by. */
  orderMembers: (visible, entity) =>
    [...(entity.orderByRelated === true ? relationsBut(visible, entity) : [])]
      .filter(
        ([, { relation, target }]) =>
          relation.shape === 'many' || (relation.unique && visible.orderable(target).length > 0),
      )
      .map(([name, related]) => [
        name,
        {
          input: relatedInput(
            related,
            ['orderBy', `Sort by the related row of ${related.target.name}; without one, its values are null.`],
            ['relationOrderBy', `Sort by the rows of ${related.target.name} that belong to it.`],
          ),
          plan: (planner, input, from) => planRelatedOrder(planner, related, input, from),
        },
      ]),
}
