import { GraphQLEnumType, GraphQLInputObjectType, type GraphQLInputType } from 'graphql'
import type { EntityFacts } from '../../contract/manifest.ts'
import { writtenEnum } from '../meaning.ts'
import { distinctFields, filterRelations, orderRelations } from '../related.ts'
import type { RoleVisibility } from '../view.ts'
import { orderByDirection } from './filters.ts'
import { typeName, type MakePart, type SchemaTypes } from './types.ts'

/** What the additions say of related rows (spec/graphql.md 17). */

export type InputField = readonly [
  name: string,
  config: { readonly type: GraphQLInputType; readonly description: string },
]

/** Conditions on related rows (`relationFilters`). */
export const relationConditions = (
  visible: RoleVisibility,
  entity: EntityFacts,
  types: SchemaTypes,
): readonly InputField[] =>
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

/** Orders by related rows (`orderByRelated`). */
export const relationOrders = (
  visible: RoleVisibility,
  entity: EntityFacts,
  types: SchemaTypes,
): readonly InputField[] =>
  [...orderRelations(visible, entity)].map(([name, { relation, target }]): InputField => {
    const [part, description] =
      relation.shape === 'many'
        ? (['relationOrderBy', `Sort by the rows of ${target.name} that belong to it.`] as const)
        : (['orderBy', `Sort by the related row of ${target.name}; without one, its values are null.`] as const)
    return [name, { type: types.part(target, part) as GraphQLInputType, description }]
  })

export const makeRelationOrderBy: MakePart = (entity) =>
  new GraphQLInputObjectType({
    name: typeName(entity, 'relationOrderBy'),
    description: `What of the rows of ${entity.name} that belong to a row can be sorted by.`,
    fields: { count: { type: orderByDirection, description: 'Sort by how many there are, in this direction.' } },
  })

/** What `distinctOn` names; the values are SQL names of columns. */
export const makeDistinctField =
  (visible: RoleVisibility): MakePart =>
  (entity) => {
    const fields = [...distinctFields(visible, entity)]
    if (fields.length === 0) return undefined
    return new GraphQLEnumType({
      name: typeName(entity, 'distinctField'),
      description: `The fields of ${entity.name} that tell rows apart.`,
      extensions: writtenEnum,
      values: Object.fromEntries(
        fields.map(([name, { column }]) => [
          name,
          { value: column, description: `One row for each value of ${name}.` },
        ]),
      ),
    })
  }
