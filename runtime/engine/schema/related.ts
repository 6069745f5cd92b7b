import { GraphQLInputObjectType, type GraphQLInputType } from 'graphql'
import type { EntityFacts } from '../../contract/manifest.ts'
import { filterRelations } from '../related.ts'
import type { Visible } from '../view.ts'
import { typeName, type MakePart, type Types } from './types.ts'

/** What the additions say of related rows (spec/graphql.md 17). */

export type InputField = readonly [name: string, config: { readonly type: GraphQLInputType; readonly description: string }]

/** Conditions on related rows (`relationFilters`). */
export const relationConditions = (visible: Visible, entity: EntityFacts, types: Types): readonly InputField[] =>
  [...filterRelations(visible, entity)].map(([name, { relation, target }]): InputField => {
    const [part, description] =
      relation.shape === 'many'
        ? (['relationFilter', `Conditions on the rows of ${target.name} that belong to it.`] as const)
        : (['filter', `There is a related row of ${target.name} that meets these conditions.`] as const)
    return [name, { type: types.part(target, part) as GraphQLInputType, description }]
  })

const quantifiers = {
  some: 'At least one of them meets these conditions; with no condition, there is at least one.',
  every: 'All of them meet these conditions, also where there are none.',
  none: 'None of them meets these conditions; with no condition, there are none at all.',
} as const

export const makeRelationFilter: MakePart = (entity, types) =>
  new GraphQLInputObjectType({
    name: typeName(entity, 'relationFilter'),
    description: `Conditions on rows of ${entity.name} that belong to a row; all that are given must hold.`,
    fields: () => {
      const type = types.part(entity, 'filter') as GraphQLInputObjectType
      return Object.fromEntries(Object.entries(quantifiers).map(([name, description]) => [name, { type, description }]))
    },
  })
