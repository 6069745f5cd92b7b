import { GraphQLInputObjectType } from 'graphql'
import type { SchemaAddition } from '../../../runtime/engine/additions.ts'
import { relationsBut, type Related } from '../../../runtime/engine/related.ts'
import { relatedInput } from '../../../runtime/engine/schema/related.ts'
import type { MakePart } from '../../../runtime/engine/schema/types.ts'
import { combined } from '../../../runtime/graphql/plan/conditions.ts'
import { planFilter, type FilterPlanner } from '../../../runtime/graphql/plan/filter.ts'
import type { Input } from '../../../runtime/graphql/plan/input.ts'
import { joinTo } from '../../../runtime/graphql/plan/joins.ts'
import type { Filter, Quantifier } from '../../../runtime/graphql/plan/plan-nodes.ts'
import { parts } from './facts.ts'

const quantifiers = {
  some: 'At least one of them meets these conditions; with no condition, there is at least one.',
  every: 'All of them meet these conditions, also where there are none.',
  none: 'None of them meets these conditions; with no condition, there are none at all.',
} as const

const makeRelationFilter: MakePart = (entity, types) =>
  new GraphQLInputObjectType({
    name: entity.name + parts.relationFilter,
    description: `Conditions on rows of ${entity.name} that belong to a row; all that are given must hold.`,
    fields: () => {
      const type = types.part(entity, 'filter') as GraphQLInputObjectType
      return Object.fromEntries(Object.entries(quantifiers).map(([name, description]) => [name, { type, description }]))
    },
  })

/** Conditions on a to-one relation require an existing row; empty ones are ignored, like those of `every`. */
function planRelated(planner: FilterPlanner, { relation, target }: Related, input: Input): Filter | null {
  if (input.kind !== 'object') return null
  const related = (quantifier: Quantifier, conditions: Input): Filter | null => {
    if (conditions.kind !== 'object') return null
    const of = planFilter(planner, target, conditions)
    if (of === null && (quantifier === 'every' || relation.shape === 'one')) return null
    planner.countRelated()
    return { kind: 'related', quantifier, entity: target, join: joinTo(planner, { relation, target }), of }
  }
  if (relation.shape === 'one') return related('some', input)
  return combined(
    'all',
    input.fields.flatMap(([name, conditions]) => related(name as Quantifier, conditions) ?? []),
  )
}

export const relationFilters: SchemaAddition = {
  name: 'relationFilters',
  parts,
  makers: () => ({ relationFilter: makeRelationFilter }),
  filterMembers: (visible, entity) =>
    [...(entity.relationFilters === true ? relationsBut(visible, entity) : [])].map(([name, related]) => [
      name,
      {
        input: relatedInput(
          related,
          ['filter', `There is a related row of ${related.target.name} that meets these conditions.`],
          ['relationFilter', `Conditions on the rows of ${related.target.name} that belong to it.`],
        ),
        plan: (planner, input) => planRelated(planner, related, input),
      },
    ]),
}
