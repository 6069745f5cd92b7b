import { GraphQLInputObjectType } from 'graphql'
import type { ColumnFacts, EntityFacts } from '../../../runtime/contract/manifest.ts'
import type { SchemaAddition } from '../../../runtime/engine/additions.ts'
import type { OrderMember } from '../../../runtime/engine/input-members.ts'
import { orderByDirection, scalars } from '../../../runtime/engine/schema/scalars.ts'
import { field, nonNull, shown, type SchemaField } from '../../../runtime/engine/schema/types.ts'
import type { RoleVisibility } from '../../../runtime/engine/view.ts'
import { byField } from '../../../runtime/engine/visible.ts'
import { memberOf } from '../../../runtime/graphql/plan/input.ts'
import { planTerm } from '../../../runtime/graphql/plan/order.ts'
import { searchedForm, searchForms } from './facts.ts'
import { planRank, planRowMember } from './plan.ts'
import { rankOf, rowValue } from './statements.ts'

const searchQuery = new GraphQLInputObjectType({
  name: 'SearchQuery',
  description: 'What to search for.',
  fields: {
    query: { type: nonNull(scalars.String), description: 'The words to search for.' },
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
      type: nonNull(orderByDirection),
      description: 'Those that fit best have the largest value.',
    },
  },
})

const rank = (column: ColumnFacts): OrderMember => ({
  input: () => ({ type: searchRank, description: 'Sort by how well it fits a query.' }),
  plan: (_, input, from) =>
    input.kind === 'object' ? planTerm(from(planRank(column, input)), memberOf(input, 'direction')) : [],
})

const searchColumns = (columns: readonly ColumnFacts[], ending: string): readonly (readonly [string, ColumnFacts])[] =>
  columns.map((column) => [`${column.field ?? ''}${ending}`, column])

function headlineField(column: ColumnFacts): SchemaField {
  const description = `Excerpts of ${shown(column).name} with what a query finds in them between marks; it is no HTML.`
  return field(scalars.String, { kind: 'headline', column: column.column }, description, {
    query: { type: nonNull(scalars.String), description: 'The words to search for.' },
    config: { type: scalars.String, description: 'The text search configuration. Default: that of the database.' },
    start: { type: scalars.String, description: 'What stands before each word that was found. Default: "<b>".' },
    stop: { type: scalars.String, description: 'What stands behind it. Default: "</b>".' },
    whole: { type: scalars.Boolean, description: 'The whole text instead of an excerpt.' },
  })
}

/** Excerpts of texts; of two columns with one field the later is used. */
function headlineFields(
  visible: RoleVisibility,
  entity: EntityFacts,
): readonly (readonly [string, () => SchemaField])[] {
  const columns = entity.columns.filter(
    (column) => searchedForm(column) === 'searchedText' && visible.seesColumn(entity, column),
  )
  return [...new Map(searchColumns(columns, 'Headline'))].map(([name, column]) => [name, () => headlineField(column)])
}

export const search: SchemaAddition = {
  name: 'search',
  forms: searchForms.map((form) => ({ ...form, inputs: [searchQuery, searchRank] })),
  orderMembers: (visible, entity) => {
    const columns = [...byField(visible.filterable(entity)).values()].filter((one) => searchedForm(one) !== undefined)
    return searchColumns(columns, 'Rank').map(([name, column]) => [name, rank(column)] as const)
  },
  rowFields: headlineFields,
  planRowMember,
  rowValue,
  rank: rankOf,
}
