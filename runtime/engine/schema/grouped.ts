import { GraphQLList, GraphQLObjectType, type GraphQLOutputType } from 'graphql'
import { recurringNames, recurringTimes, groupFigureNames } from '../../contract/aggregates.ts'
import type { EntityFacts } from '../../contract/manifest.ts'
import { listedColumns, measuredColumns } from '../related.ts'
import type { RoleVisibility } from '../view.ts'
import { figureFields, ofColumns } from './collections.ts'
import { percentileAt } from './groups.ts'
import { scalars } from './scalars.ts'
import {
  field,
  nonNull,
  shown,
  typeName,
  wrapperFields,
  type Fields,
  type MakePart,
  type SchemaTypes,
} from './types.ts'

/** The members of a group (spec/graphql.md 17.2). */
export const makeGrouped: MakePart = (entity, types) =>
  new GraphQLObjectType({
    name: typeName(entity, 'grouped'),
    description: `A group of rows of ${entity.name}.`,
    fields: () => ({
      ...wrapperFields({
        key: [nonNull(types.part(entity, 'groupKey') as GraphQLOutputType), 'What the rows have in common.'],
        ...recurringFields(entity, types),
        count: [nonNull(scalars.Int), 'How many rows there are.'],
        ...figureFields(entity, types, groupFigureNames),
      }),
      ...percentileField(entity, types),
      ...valuesField(entity, types),
      ...wrapperFields({ cursor: [nonNull(scalars.String), 'The place of the group in the order.'] }),
    }),
  })

const recurringFields = (entity: EntityFacts, types: SchemaTypes): Parameters<typeof wrapperFields>[0] =>
  Object.fromEntries(
    recurringNames.flatMap((time) => {
      const { member, help } = recurringTimes[time]
      const type = types.part(entity, member) as GraphQLOutputType | undefined
      return type === undefined ? [] : [[member, [nonNull(type), help]] as const]
    }),
  )

function percentileField(entity: EntityFacts, types: SchemaTypes): Fields {
  const type = types.part(entity, 'percentiles') as GraphQLObjectType | undefined
  if (type === undefined) return {}
  const meaning = { kind: 'member', member: 'percentile' } as const
  return { percentile: field(type, meaning, 'A value between the values, nulls left out.', { at: percentileAt }) }
}

function valuesField(entity: EntityFacts, types: SchemaTypes): Fields {
  const type = types.part(entity, 'listed') as GraphQLObjectType | undefined
  if (type === undefined) return {}
  const atMost = { type: nonNull(scalars.Int), description: `How many of them; never more than ${entity.maxRows}.` }
  const meaning = { kind: 'member', member: 'values', pages: entity } as const
  return { values: field(nonNull(type), meaning, 'Different values, the least first, nulls left out.', { atMost }) }
}

/** Undefined without numeric columns. */
export const makePercentiles = (visible: RoleVisibility): MakePart =>
  ofColumns(
    'percentiles',
    'A percentile of each column.',
    (entity) => measuredColumns(visible, entity),
    () => [scalars.Float, 'Between two values in proportion.'],
  )

/** Undefined without sortable columns. */
export const makeListed = (visible: RoleVisibility): MakePart =>
  ofColumns(
    'listed',
    'Different values of each column.',
    (entity) => listedColumns(visible, entity),
    (column, types) => [
      nonNull(new GraphQLList(nonNull(types.output(shown(column).type)))),
      'The least first, nulls left out.',
    ],
  )
