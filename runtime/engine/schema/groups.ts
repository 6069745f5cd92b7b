import { GraphQLInputObjectType, GraphQLList, type GraphQLInputType } from 'graphql'
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
import type { NamePart } from '../../contract/name-parts.ts'
import { figureColumns, measuredColumns } from '../related.ts'
import type { RoleVisibility } from '../view.ts'
import { orderByDirection, scalarFilters } from './filters.ts'
import type { InputField } from './related.ts'
import { scalars } from './scalars.ts'
import { alternatives, nonNull, shown, typeName, type MakePart, type SchemaTypes } from './types.ts'

/** Conditions on groups of rows, and their order (spec/graphql.md 17.2). */

export const makeGroupOrder: MakePart = (entity, types) =>
  new GraphQLInputObjectType({
    name: typeName(entity, 'groupOrder'),
    ...alternatives(entity),
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
  part: NamePart,
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
  (entity) =>
    figureInput(
      entity,
      groupFigures[name].order,
      `Figures that groups of rows of ${entity.name} can be sorted by. ${help}`,
      figureColumns(visible, entity, name).map(orderField),
      alternatives(entity),
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
  (entity) =>
    figureInput(
      entity,
      'percentileColumnOrder',
      `Fields by whose percentile groups of rows of ${entity.name} can be sorted.`,
      measuredColumns(visible, entity).map(orderField),
      alternatives(entity),
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
export const percentileAt = {
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
