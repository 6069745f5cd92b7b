import { GraphQLInputObjectType, GraphQLNonNull } from 'graphql'
import type { ColumnFacts } from '../../../runtime/contract/manifest.ts'
import type { SchemaAddition } from '../../../runtime/engine/additions.ts'
import type { OrderMember } from '../../../runtime/engine/input-members.ts'
import { orderByDirection } from '../../../runtime/engine/schema/filters.ts'
import { scalars } from '../../../runtime/engine/schema/scalars.ts'
import { searchColumns, searchedForm } from '../../../runtime/engine/searches.ts'
import { byField } from '../../../runtime/engine/visible.ts'
import { memberOf, slotOf, type Input } from '../../../runtime/graphql/plan/input.ts'
import { planTerm } from '../../../runtime/graphql/plan/order.ts'
import type { RankKey } from '../../../runtime/graphql/plan/plan-nodes.ts'
import { rankConfig } from '../../../runtime/graphql/plan/search.ts'
import type { Value } from '../../../runtime/graphql/plan/values.ts'
import { searchForms } from './facts.ts'

const searchQuery = new GraphQLInputObjectType({
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

const searchRank = new GraphQLInputObjectType({
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

function planRank(column: ColumnFacts, input: Input): RankKey {
  const form = searchedForm(column)
  if (form === undefined) throw new Error(`${column.column} is not searched`)
  const query: Value = {
    slot: slotOf(memberOf(input, 'query')),
    encoding: { kind: 'scalar', maxLength: null, counted: 'words' },
  }
  return { kind: 'rank', column: column.column, form, query, ...rankConfig(memberOf(input, 'config')) }
}

const rank = (column: ColumnFacts): OrderMember => ({
  input: () => ({ type: searchRank, description: 'Sort by how well it fits a query.' }),
  plan: (_, input, from) =>
    input.kind === 'object' ? planTerm(from(planRank(column, input)), memberOf(input, 'direction')) : [],
})

export const search: SchemaAddition = {
  name: 'search',
  forms: searchForms.map((form) => ({ ...form, inputs: [searchQuery, searchRank] })),
  orderMembers: (visible, entity) => {
    const columns = [...byField(visible.filterable(entity)).values()].filter((one) => searchedForm(one) !== undefined)
    return searchColumns(columns, 'Rank').map(([name, column]) => [name, rank(column)] as const)
  },
}
