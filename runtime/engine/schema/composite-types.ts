import { GraphQLInputObjectType, GraphQLObjectType } from 'graphql'
import type { RoleVisibility } from '../view.ts'
import { filterType } from './collections.ts'
import { field, type CompositeMakers } from './types.ts'

/** Objects of composite types, and filters by their attributes (`composites`, spec/graphql.md 17). */
export const compositeMakers = (visible: RoleVisibility): CompositeMakers => ({
  object: (item, types) =>
    new GraphQLObjectType({
      name: item.name,
      description: `A value of the database type ${item.name}.`,
      fields: () =>
        Object.fromEntries(
          visible
            .attributes(item)
            .map(({ field: name, attribute, type }) => [
              name,
              field(types.output(type), { kind: 'attribute', attribute }, `The value of ${name}.`),
            ]),
        ),
    }),
  filter: (item, types) =>
    new GraphQLInputObjectType({
      name: `${item.name}Filter`,
      description: `Conditions on a value of type ${item.name}; all that are given must hold.`,
      fields: () =>
        Object.fromEntries(
          visible
            .comparableAttributes(item)
            .map(({ field: name, type }) => [
              name,
              { type: filterType(visible, name, type, types), description: `Conditions on ${name}.` },
            ]),
        ),
    }),
})
