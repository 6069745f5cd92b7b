import { GraphQLInputObjectType, GraphQLNonNull } from 'graphql'
import { orderByDirection } from './filters.ts'
import { scalars } from './scalars.ts'

export const searchQuery = new GraphQLInputObjectType({
  name: 'SearchQuery',
  description: 'What to search for.',
  fields: {
    query: { type: new GraphQLNonNull(scalars.String), description: 'The words to search for.' },
    config: {
      type: scalars.String,
      description: 'The text search configuration, for example "english". Default: that of the database.',
    },
  },
})

export const searchRank = new GraphQLInputObjectType({
  name: 'SearchRank',
  description: 'Sorts by how well rows fit a query.',
  fields: {
    ...searchQuery.toConfig().fields,
    direction: {
      type: new GraphQLNonNull(orderByDirection),
      description: 'Those that fit best have the largest value.',
    },
  },
})
