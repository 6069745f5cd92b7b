import {
  GraphQLInputObjectType,
  GraphQLList,
  type GraphQLInputType,
  GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLScalarType,
} from 'graphql'
import {
  recurringNames,
  recurringTimes,
  figureType,
  groupFigureNames,
  groupFigures,
  type GroupFigure,
} from '../../contract/aggregates.ts'
import type { ColumnFacts, EntityFacts } from '../../contract/manifest.ts'
import type { ScalarName } from '../../contract/scalar-names.ts'
import type { CorePart } from '../../contract/name-parts.ts'
import {
  figureColumns,
  measuredColumns,
  listedColumns,
  groupColumns,
  groupRelations,
  isMeasured,
  reachesKey,
} from '../related.ts'
import type { RoleVisibility } from '../view.ts'
import { orderByDirection, scalarFilters } from './filters.ts'
import type { InputField } from './related.ts'
import { scalars } from './scalars.ts'
import {
  nonNull,
  shown,
  typeName,
  type MakePart,
  type SchemaTypes,
  field,
  wrapperFields,
  type Fields,
} from './types.ts'
import { figureFields, ofColumns } from './collections.ts'

/** Conditions on groups of rows, and their order (spec/graphql.md 17.2). */

export const makeGroupOrder: MakePart = (entity, types) =>
  new GraphQLInputObjectType({
    name: typeName(entity, 'groupOrder'),
    ...types.alternatives(entity),
    description: `What groups of rows of ${entity.name} can be sorted by.`,
    fields: () => ({
      key: {
        type: types.part(entity, 'groupKeyOrder') as GraphQLInputType,
        description: 'Sort by what they have in common.',
      },
      ...Object.fromEntries(
        recurringNames.flatMap((time): readonly InputField[] => {
          const { member, order, help } = recurringTimes[time]
          const type = types.part(entity, order) as GraphQLInputType | undefined
          return type === undefined ? [] : [[member, { type, description: `Sort by this number. ${help}` }]]
        }),
      ),
      count: { type: orderByDirection, description: 'Sort by how many rows there are, in this direction.' },
      ...figureInputs(entity, types, 'order', 'Sort by this figure of a field.'),
    }),
  })

const figureInputs = (
  entity: EntityFacts,
  types: SchemaTypes,
  use: 'order' | 'having',
  description: string,
): Readonly<Record<string, InputField[1]>> =>
  Object.fromEntries(
    [...groupFigureNames, 'percentile' as const].flatMap((name): readonly InputField[] => {
      const part = name === 'percentile' ? percentileParts[use] : groupFigures[name][use]
      const type = types.part(entity, part) as GraphQLInputType | undefined
      return type === undefined ? [] : [[name, { type, description }]]
    }),
  )

const percentileParts = { order: 'percentileOrder', having: 'havingPercentile' } as const

/** Common to `every` and `some`. */
export const flagHelp = 'Whether the values are true, nulls left out.'

/** Undefined if no column has the figure. */
const figureInput = (
  entity: EntityFacts,
  part: CorePart,
  description: string,
  fields: readonly InputField[],
  shape: { readonly isOneOf?: true } = {},
): GraphQLInputObjectType | undefined =>
  fields.length === 0
    ? undefined
    : new GraphQLInputObjectType({
        name: typeName(entity, part),
        description,
        ...shape,
        fields: Object.fromEntries(fields),
      })

const orderField = (column: ColumnFacts): InputField => {
  const { name } = shown(column)
  return [name, { type: orderByDirection, description: `Sort by that of ${name} in this direction.` }]
}

const conditionField = (column: ColumnFacts, scalar: ScalarName): InputField => {
  const { name } = shown(column)
  return [name, { type: scalarFilters.get(scalar) as GraphQLInputType, description: `Conditions on that of ${name}.` }]
}

export const makeFigureOrder =
  (visible: RoleVisibility, name: GroupFigure, help: string = groupFigures[name].help): MakePart =>
  (entity, types) =>
    figureInput(
      entity,
      groupFigures[name].order,
      `Figures that groups of rows of ${entity.name} can be sorted by. ${help}`,
      figureColumns(visible, entity, name).map(orderField),
      types.alternatives(entity),
    )

export const makeFigureHaving =
  (visible: RoleVisibility, name: GroupFigure, help: string = groupFigures[name].help): MakePart =>
  (entity) =>
    figureInput(
      entity,
      groupFigures[name].having,
      `Conditions on figures of groups of rows of ${entity.name}; all that are given must hold. ${help}`,
      comparedFigures(visible, entity, name).map((column) =>
        conditionField(column, figureType(column, name) as ScalarName),
      ),
    )

/** Undefined without numeric columns. */
export const makePercentileInput =
  (part: 'percentileOrder' | 'havingPercentile'): MakePart =>
  (entity, types) => {
    const of = types.part(entity, part === 'percentileOrder' ? 'percentileColumnOrder' : 'havingPercentileColumn')
    return figureInput(
      entity,
      part,
      `Percentiles of groups of rows of ${entity.name}, nulls left out.`,
      of === undefined
        ? []
        : [
            ['at', percentileAt],
            ['of', { type: of as GraphQLInputType, description: 'Of which fields.' }],
          ],
    )
  }

export const makePercentileOrder =
  (visible: RoleVisibility): MakePart =>
  (entity, types) =>
    figureInput(
      entity,
      'percentileColumnOrder',
      `Fields by whose percentile groups of rows of ${entity.name} can be sorted.`,
      measuredColumns(visible, entity).map(orderField),
      types.alternatives(entity),
    )

export const makePercentileHaving =
  (visible: RoleVisibility): MakePart =>
  (entity) =>
    figureInput(
      entity,
      'havingPercentileColumn',
      `Conditions on percentiles of groups of rows of ${entity.name}; all that are given must hold.`,
      measuredColumns(visible, entity).map((column) => conditionField(column, 'Float')),
    )

/** The argument of a percentile. */
const percentileAt = {
  type: nonNull(scalars.Float),
  description: 'Which part of the values lies below: 0.5 is the median, 0 the smallest value, 1 the largest.',
}

/** A sum of money does not fit the type of its filter. */
const comparedFigures = (visible: RoleVisibility, entity: EntityFacts, name: GroupFigure): readonly ColumnFacts[] =>
  figureColumns(visible, entity, name).filter(
    ({ type }) => name !== 'sum' || type?.kind !== 'scalar' || type.name !== 'Opaque',
  )

export const makeHaving: MakePart = (entity, types) => {
  const self: GraphQLInputObjectType = new GraphQLInputObjectType({
    name: typeName(entity, 'having'),
    description: `Conditions on groups of rows of ${entity.name}; all that are given must hold.`,
    fields: () => {
      const list = new GraphQLList(nonNull(self))
      return {
        count: {
          type: scalarFilters.get('Int') as GraphQLInputType,
          description: 'Conditions on how many rows there are.',
        },
        ...figureInputs(entity, types, 'having', 'Conditions on this figure of fields.'),
        and: { type: list, description: 'Holds when every one of these holds.' },
        or: { type: list, description: 'Holds when at least one of these holds.' },
        not: { type: self, description: 'Holds when this does not.' },
      }
    },
  })
  return self
}

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

/** Widths of groups of numbers (spec/graphql.md 17.2); undefined without numeric keys. */
export const makeGroupWidths =
  (visible: RoleVisibility): MakePart =>
  (entity, types) =>
    reachesKey(visible, entity, isMeasured)
      ? new GraphQLInputObjectType({
          name: typeName(entity, 'groupWidths'),
          description: `How far groups of rows of ${entity.name} reach by numbers.`,
          fields: () =>
            Object.fromEntries([
              ...[...groupColumns(visible, entity)].flatMap(([name, column]): readonly InputField[] =>
                isMeasured(column)
                  ? [[name, { type: widthOf(column), description: `How far groups by ${name} reach; more than 0.` }]]
                  : [],
              ),
              ...[...groupRelations(visible, entity)].flatMap(([name, { target }]): readonly InputField[] => {
                const type = types.part(target, 'groupWidths') as GraphQLInputType | undefined
                return type === undefined ? [] : [[name, { type, description: `How far groups by ${name} reach.` }]]
              }),
            ]),
        })
      : undefined

/** Groups of whole numbers begin at whole numbers. */
const widthOf = ({ type }: ColumnFacts): GraphQLScalarType =>
  type?.kind === 'scalar' && (type.name === 'Int' || type.name === 'BigInt') ? scalars.BigInt : scalars.BigFloat
