import { GraphQLInputObjectType, GraphQLList, GraphQLNonNull, type GraphQLInputType } from 'graphql'
import type { FilterForm, SchemaAddition } from '../../../runtime/engine/additions.ts'
import { scalarFilters, scalars } from '../../../runtime/engine/schema/scalars.ts'
import { filterOfForm } from '../../../runtime/engine/schema/form-filters.ts'
import { jsonForm } from './facts.ts'
import { planPaths } from './plan.ts'
import { jsonParts, partOf } from './statements.ts'

const pathQuery = new GraphQLInputObjectType({
  name: 'JSONPathQuery',
  description: 'An SQL/JSON path.',
  fields: {
    path: {
      type: new GraphQLNonNull(scalars.String),
      description: 'The path as Postgres writes it, for example "$.tags[*] ? (@ == $tag)".',
    },
    variables: { type: scalars.JSON, description: 'The values of its variables: an object, as JSON.' },
  },
})

const jsonFilter: GraphQLInputObjectType = filterOfForm({ ...jsonForm, inputs: [pathQuery] }, () => [
  [
    'path',
    {
      type: new GraphQLList(new GraphQLNonNull(pathFilter)),
      description: 'Conditions on what stands at these paths; all that are given must hold.',
    },
  ],
])

const pathFilter: GraphQLInputObjectType = new GraphQLInputObjectType({
  name: 'JSONPathFilter',
  description: 'Conditions on what stands at a path; all that are given must hold.',
  fields: () => ({
    at: {
      type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(scalars.String))),
      description: 'Keys, and positions of elements from 0 on; negative ones count from the end.',
    },
    ...Object.fromEntries(
      Object.entries(jsonParts).map(([name, { scalar, help }]) => [
        name,
        { type: name === 'json' ? jsonFilter : (scalarFilters.get(scalar) as GraphQLInputType), description: help },
      ]),
    ),
  }),
})

const form: FilterForm = {
  ...jsonForm,
  filter: () => jsonFilter,
  inputs: [jsonFilter, pathFilter, pathQuery],
  plan: (subject, name, operand) => (name === 'path' ? planPaths(subject, operand, form) : null),
  part: partOf,
}

export const jsonFilters: SchemaAddition = { name: 'jsonFilters', forms: [form] }
