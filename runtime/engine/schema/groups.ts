import { GraphQLEnumType, GraphQLInputObjectType, GraphQLList, GraphQLObjectType, type GraphQLInputType } from 'graphql'
import { bucketsOf, bucketTables, type TimeUnit } from '../../contract/buckets.ts'
import { figureType, groupFigureNames, groupFigures, type GroupFigure } from '../../contract/figures.ts'
import type { ColumnFacts, EntityFacts } from '../../contract/manifest.ts'
import type { ScalarName } from '../../contract/scalar-names.ts'
import type { NamePart } from '../../contract/name-parts.ts'
import { writtenEnum } from '../meaning.ts'
import { figureColumns, groupColumns, groupRelations } from '../related.ts'
import type { RoleVisibility } from '../view.ts'
import { orderByDirection, scalarFilters } from './filters.ts'
import type { InputField } from './related.ts'
import { alternatives, field, nonNull, shown, typeName, type MakePart, type SchemaTypes } from './types.ts'

/** Groups of rows: what they have in common, their figures, conditions on them and their order (spec/graphql.md 17.2). */

const unitHelp: Readonly<Record<TimeUnit, string>> = {
  MINUTE: 'Those of one minute.',
  HOUR: 'Those of one hour.',
  DAY: 'Those of one day.',
  WEEK: 'Those of one week, from Monday on.',
  MONTH: 'Those of one month.',
  QUARTER: 'Those of one quarter of a year.',
  YEAR: 'Those of one year.',
}

/** By name: the enums that say which values come into one group; they do not depend on the database. */
export const bucketEnums: ReadonlyMap<string, GraphQLEnumType> = new Map(
  bucketTables.map(({ type, units }) => [
    type,
    new GraphQLEnumType({
      name: type,
      description: 'Which values come into one group.',
      extensions: writtenEnum,
      values: {
        VALUE: { description: 'Those that are equal.' },
        ...Object.fromEntries(units.map((unit) => [unit, { description: unitHelp[unit] }])),
      },
    }),
  ]),
)

const bucketEnum = ({ type }: ColumnFacts): GraphQLInputType =>
  bucketEnums.get(bucketsOf(type?.kind === 'scalar' ? type.name : null).type) as GraphQLEnumType

/** One field for each field that rows can be grouped by, and for each related row with such. */
const keyInputs = (
  visible: RoleVisibility,
  entity: EntityFacts,
  types: SchemaTypes,
  part: NamePart,
  column: (column: ColumnFacts) => InputField[1],
  say: (target: string) => string,
): Readonly<Record<string, InputField[1]>> =>
  Object.fromEntries([
    ...[...groupColumns(visible, entity)].map(([name, facts]): InputField => [name, column(facts)]),
    ...[...groupRelations(visible, entity)].map(([name, { target }]): InputField => [
      name,
      { type: types.part(target, part) as GraphQLInputType, description: say(target.name) },
    ]),
  ])

const hasKeys = (visible: RoleVisibility, entity: EntityFacts): boolean =>
  groupColumns(visible, entity).size > 0 || groupRelations(visible, entity).size > 0

export const makeGroupBy =
  (visible: RoleVisibility): MakePart =>
  (entity, types) =>
    hasKeys(visible, entity)
      ? new GraphQLInputObjectType({
          name: typeName(entity, 'groupBy'),
          ...alternatives(entity),
          description: `What rows of ${entity.name} can be grouped by.`,
          fields: () =>
            keyInputs(
              visible,
              entity,
              types,
              'groupBy',
              (column) => ({
                type: bucketEnum(column),
                description: `Group by ${shown(column).name}.`,
              }),
              (target) => `Group by the related row of ${target}; without one, its values are null.`,
            ),
        })
      : undefined

export const makeGroupKeyOrder =
  (visible: RoleVisibility): MakePart =>
  (entity, types) =>
    new GraphQLInputObjectType({
      name: typeName(entity, 'groupKeyOrder'),
      ...alternatives(entity),
      description: `What of their key groups of rows of ${entity.name} can be sorted by: what they were grouped by.`,
      fields: () =>
        keyInputs(
          visible,
          entity,
          types,
          'groupKeyOrder',
          (column) => ({ type: orderByDirection, description: `Sort by ${shown(column).name} in this direction.` }),
          (target) => `Sort by the related row of ${target}.`,
        ),
    })

export const makeGroupKey =
  (visible: RoleVisibility): MakePart =>
  (entity, types) =>
    new GraphQLObjectType({
      name: typeName(entity, 'groupKey'),
      description: `What a group of rows of ${entity.name} has in common; only what was grouped by can be asked for.`,
      fields: () =>
        Object.fromEntries([
          ...[...groupColumns(visible, entity)].map(([name, column]) => [
            name,
            field(
              types.output(shown(column).type),
              { kind: 'column', column: column.column },
              `The ${name} of all rows of the group, or when the time in which it lies begins.`,
            ),
          ]),
          ...[...groupRelations(visible, entity)].map(([name, { relation, target }]) => [
            name,
            field(
              nonNull(types.part(target, 'groupKey') as GraphQLObjectType),
              { kind: 'relation', relation, target },
              `What the related rows of ${target.name} have in common; without one, its values are null.`,
            ),
          ]),
        ]),
    })

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
    groupFigureNames.flatMap((name): readonly InputField[] => {
      const type = types.part(entity, groupFigures[name][use]) as GraphQLInputType | undefined
      return type === undefined ? [] : [[name, { type, description }]]
    }),
  )

/** Of what `every` and `some` have in common. */
export const flagHelp = 'Whether the values are true, nulls left out.'

/** Undefined where no column has the figure. */
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

export const makeFigureOrder =
  (visible: RoleVisibility, name: GroupFigure, help: string = groupFigures[name].help): MakePart =>
  (entity) =>
    figureInput(
      entity,
      groupFigures[name].order,
      `Figures that groups of rows of ${entity.name} can be sorted by. ${help}`,
      figureColumns(visible, entity, name).map((column): InputField => [
        shown(column).name,
        { type: orderByDirection, description: `Sort by that of ${shown(column).name} in this direction.` },
      ]),
      alternatives(entity),
    )

export const makeFigureHaving =
  (visible: RoleVisibility, name: GroupFigure, help: string = groupFigures[name].help): MakePart =>
  (entity) =>
    figureInput(
      entity,
      groupFigures[name].having,
      `Conditions on figures of groups of rows of ${entity.name}; all that are given must hold. ${help}`,
      comparedFigures(visible, entity, name).map((column): InputField => [
        shown(column).name,
        {
          type: scalarFilters.get(figureType(column, name) as ScalarName) as GraphQLInputType,
          description: `Conditions on that of ${shown(column).name}.`,
        },
      ]),
    )

/** A sum of money is none of the numbers that its filter takes. */
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
