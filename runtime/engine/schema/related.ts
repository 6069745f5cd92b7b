import { GraphQLInputObjectType, type GraphQLInputType } from 'graphql'
import type { EntityFacts } from '../../contract/manifest.ts'
import type { NamePart } from '../../contract/name-parts.ts'
import { filterRelations, orderRelations, type Related } from '../related.ts'
import type { RoleVisibility } from '../view.ts'
import { orderByDirection } from './filters.ts'
import { typeName, type MakePart, type SchemaTypes } from './types.ts'

/** The inputs of additions for related rows (spec/graphql.md 17). */

export type InputField = readonly [
  name: string,
  config: { readonly type: GraphQLInputType; readonly description: string },
]

/** A field for each relation, of a type of its target. */
const relatedInputs = (
  relations: ReadonlyMap<string, Related>,
  types: SchemaTypes,
  say: (target: string, isMany: boolean) => readonly [part: NamePart, description: string],
): readonly InputField[] =>
  [...relations].map(([name, { relation, target }]) => {
    const [part, description] = say(target.name, relation.shape === 'many')
    return [name, { type: types.part(target, part) as GraphQLInputType, description }]
  })

/** Conditions on related rows (`relationFilters`). */
export const relationConditions = (visible: RoleVisibility, entity: EntityFacts, types: SchemaTypes) =>
  relatedInputs(filterRelations(visible, entity), types, (target, isMany) =>
    isMany
      ? ['relationFilter', `Conditions on the rows of ${target} that belong to it.`]
      : ['filter', `There is a related row of ${target} that meets these conditions.`],
  )

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

/** Orders by related rows (`orderByRelated`). */
export const relationOrders = (visible: RoleVisibility, entity: EntityFacts, types: SchemaTypes) =>
  relatedInputs(orderRelations(visible, entity), types, (target, isMany) =>
    isMany
      ? ['relationOrderBy', `Sort by the rows of ${target} that belong to it.`]
      : ['orderBy', `Sort by the related row of ${target}; without one, its values are null.`],
  )

export const makeRelationOrderBy: MakePart = (entity, types) =>
  new GraphQLInputObjectType({
    name: typeName(entity, 'relationOrderBy'),
    ...types.alternatives(entity),
    description: `What of the rows of ${entity.name} that belong to a row can be sorted by.`,
    fields: { count: { type: orderByDirection, description: 'Sort by how many there are, in this direction.' } },
  })
