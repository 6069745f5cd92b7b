import {
  GraphQLEnumType,
  GraphQLInputObjectType,
  GraphQLList,
  GraphQLObjectType,
  type GraphQLInputType,
  type GraphQLOutputType,
  type GraphQLScalarType,
} from 'graphql'
import type { ColumnFacts, EntityFacts } from '../../../runtime/contract/manifest.ts'
import type { ScalarName } from '../../../runtime/contract/scalar-names.ts'
import type { SchemaAddition } from '../../../runtime/engine/additions.ts'
import { writtenEnum } from '../../../runtime/engine/meaning.ts'
import { figureFields, figuresOf, ofColumns } from '../../../runtime/engine/schema/collections.ts'
import { orderByDirection, scalarFilters } from '../../../runtime/engine/schema/filters.ts'
import type { InputField } from '../../../runtime/engine/schema/related.ts'
import { scalars } from '../../../runtime/engine/schema/scalars.ts'
import {
  field,
  listOf,
  nonNull,
  shown,
  wrapperFields,
  type Fields,
  type MakePart,
  type SchemaTypes,
} from '../../../runtime/engine/schema/types.ts'
import type { RoleVisibility } from '../../../runtime/engine/view.ts'
import {
  bucketsOf,
  bucketTables,
  figureType,
  groupFigureNames,
  groupFigures,
  parts,
  recurringNames,
  recurringTimes,
  type GroupFigure,
  type RecurringTime,
  type TimeUnit,
} from './facts.ts'
import {
  connectionMembers,
  figureColumns,
  groupColumns,
  groupRelations,
  isMeasured,
  keysRead,
  listedColumns,
  measuredColumns,
  reachesKey,
} from './plan.ts'
import { connectionValue } from './statements.ts'

type Part = keyof typeof parts

const typeName = (entity: EntityFacts, part: Part): string => entity.name + parts[part]

/** `groups` of a connection (spec/graphql.md 17.2), if the relation has them and a possible key. */
function connectionFields(entity: EntityFacts, types: SchemaTypes): Fields {
  const by = entity.groups === true ? (types.part(entity, 'groupBy') as GraphQLInputType | undefined) : undefined
  if (by === undefined) return {}
  const widths = types.part(entity, 'groupWidths') as GraphQLInputType | undefined
  const input = (part: 'having' | 'groupOrder'): GraphQLInputType => types.part(entity, part) as GraphQLInputType
  const groups = field(
    listOf(types.part(entity, 'grouped') as GraphQLOutputType),
    { kind: 'member', member: 'groups', pages: entity },
    'The rows that match, on all pages together, in groups of those with the same key. They are sorted by their key.',
    {
      by: {
        type: nonNull(new GraphQLList(nonNull(by))),
        description: 'What rows of a group have in common: values of fields, or the time in which they lie.',
      },
      ...(widths && {
        widths: {
          type: widths,
          description:
            'How far groups of numbers reach that are grouped by VALUE, from 0 on. Default: each its own group.',
        },
      }),
      having: { type: input('having'), description: 'Conditions that the groups must meet. Default: none.' },
      orderBy: {
        type: new GraphQLList(nonNull(input('groupOrder'))),
        description: 'What to sort the groups by, the most important first. Groups that tie are sorted by their key.',
      },
      first: {
        type: scalars.Int,
        description: `How many groups to take; at most ${entity.maxRows}, which is also the default.`,
      },
      after: { type: scalars.Cursor, description: 'Take groups that come after this cursor.' },
      offset: { type: scalars.Int, description: 'How many groups to leave out at the start. Default 0.' },
      timeZone: {
        type: scalars.String,
        description:
          'The time zone in which days and longer times begin, such as "Europe/Oslo". Default: that of the database.',
      },
    },
  )
  return { groups }
}

/** Conditions on groups of rows, and their order (spec/graphql.md 17.2). */

const makeGroupOrder: MakePart = (entity, types) =>
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

/** `every` and `some` have the same types. */
const helpOf = (name: GroupFigure): string =>
  groupFigures[name].result === 'flags' ? 'Whether the values are true, nulls left out.' : groupFigures[name].help

/** Undefined if no column has the figure. */
const figureInput = (
  entity: EntityFacts,
  part: Part,
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

const makeFigureOrder =
  (visible: RoleVisibility, name: GroupFigure): MakePart =>
  (entity, types) =>
    figureInput(
      entity,
      groupFigures[name].order,
      `Figures that groups of rows of ${entity.name} can be sorted by. ${helpOf(name)}`,
      figureColumns(visible, entity, name).map(orderField),
      types.alternatives(entity),
    )

const makeFigureHaving =
  (visible: RoleVisibility, name: GroupFigure): MakePart =>
  (entity) =>
    figureInput(
      entity,
      groupFigures[name].having,
      `Conditions on figures of groups of rows of ${entity.name}; all that are given must hold. ${helpOf(name)}`,
      comparedFigures(visible, entity, name).map((column) =>
        conditionField(column, figureType(column, name) as ScalarName),
      ),
    )

/** Undefined without numeric columns. */
const makePercentileInput =
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

const makePercentileOrder =
  (visible: RoleVisibility): MakePart =>
  (entity, types) =>
    figureInput(
      entity,
      'percentileColumnOrder',
      `Fields by whose percentile groups of rows of ${entity.name} can be sorted.`,
      measuredColumns(visible, entity).map(orderField),
      types.alternatives(entity),
    )

const makePercentileHaving =
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

const makeHaving: MakePart = (entity, types) => {
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
const makeGrouped: MakePart = (entity, types) =>
  new GraphQLObjectType({
    name: typeName(entity, 'grouped'),
    description: `A group of rows of ${entity.name}.`,
    fields: () => ({
      ...wrapperFields({
        key: [nonNull(types.part(entity, 'groupKey') as GraphQLOutputType), 'What the rows have in common.'],
        ...recurringFields(entity, types),
        count: [nonNull(scalars.Int), 'How many rows there are.'],
        ...figureFields(entity, types, groupFigures),
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
  const meaning = { kind: 'member', member: 'values', pages: entity, each: 'atMost' } as const
  return { values: field(nonNull(type), meaning, 'Different values, the least first, nulls left out.', { atMost }) }
}

/** Undefined without numeric columns. */
const makePercentiles = (visible: RoleVisibility): MakePart =>
  ofColumns(
    parts.percentiles,
    'A percentile of each column.',
    (entity) => measuredColumns(visible, entity),
    () => [scalars.Float, 'Between two values in proportion.'],
  )

/** Undefined without sortable columns. */
const makeListed = (visible: RoleVisibility): MakePart =>
  ofColumns(
    parts.listed,
    'Different values of each column.',
    (entity) => listedColumns(visible, entity),
    (column, types) => [
      nonNull(new GraphQLList(nonNull(types.output(shown(column).type)))),
      'The least first, nulls left out.',
    ],
  )

/** Widths of groups of numbers (spec/graphql.md 17.2); undefined without numeric keys. */
const makeGroupWidths =
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

/** The keys of groups: the common values, and numbers of recurring units of time (spec/graphql.md 17.2). */

const unitHelp: Readonly<Record<TimeUnit, string>> = {
  MINUTE: 'Those of one minute.',
  HOUR: 'Those of one hour.',
  DAY: 'Those of one day.',
  WEEK: 'Those of one week, from Monday on.',
  MONTH: 'Those of one month.',
  QUARTER: 'Those of one quarter of a year.',
  YEAR: 'Those of one year.',
}

const recurringHelp: Readonly<Record<RecurringTime, string>> = {
  DAY_OF_WEEK: 'Those of one day of the week, whichever week; it is told as `dayOfWeek`.',
  HOUR_OF_DAY: 'Those of one hour of the day, whichever day; it is told as `hourOfDay`.',
}

/** By name: the enums that select the values of one group; they do not depend on the database. */
const bucketEnums: ReadonlyMap<string, GraphQLEnumType> = new Map(
  bucketTables.map(({ type, units, recurring }) => [
    type,
    new GraphQLEnumType({
      name: type,
      description: 'Which values come into one group.',
      extensions: writtenEnum,
      values: {
        VALUE: { description: 'Those that are equal.' },
        ...Object.fromEntries(units.map((unit) => [unit, { description: unitHelp[unit] }])),
        ...Object.fromEntries(recurring.map((time) => [time, { description: recurringHelp[time] }])),
      },
    }),
  ]),
)

const bucketTable = ({ type }: ColumnFacts): ReturnType<typeof bucketsOf> =>
  bucketsOf(type?.kind === 'scalar' ? type.name : null)

const bucketEnum = (column: ColumnFacts): GraphQLInputType =>
  bucketEnums.get(bucketTable(column).type) as GraphQLEnumType

/** The members of a group with a field for each key: the key itself for all of them. */
const takes =
  (time: RecurringTime | null) =>
  (column: ColumnFacts): boolean =>
    time === null || bucketTable(column).recurring.includes(time)

/** One field for each possible key, and for each related row with such. */
const keyInputs = (
  visible: RoleVisibility,
  entity: EntityFacts,
  types: SchemaTypes,
  part: Part,
  isSuch: (column: ColumnFacts) => boolean,
  column: (column: ColumnFacts) => InputField[1],
  say: (target: string) => string,
): Readonly<Record<string, InputField[1]>> =>
  Object.fromEntries([
    ...[...groupColumns(visible, entity)].flatMap(([name, facts]): readonly InputField[] =>
      isSuch(facts) ? [[name, column(facts)]] : [],
    ),
    ...[...groupRelations(visible, entity)].flatMap(([name, { target }]): readonly InputField[] => {
      const type = types.part(target, part) as GraphQLInputType | undefined
      return type === undefined ? [] : [[name, { type, description: say(target.name) }]]
    }),
  ])

const hasKeys = (visible: RoleVisibility, entity: EntityFacts): boolean =>
  groupColumns(visible, entity).size > 0 || groupRelations(visible, entity).size > 0

const makeGroupBy =
  (visible: RoleVisibility): MakePart =>
  (entity, types) =>
    hasKeys(visible, entity)
      ? new GraphQLInputObjectType({
          name: typeName(entity, 'groupBy'),
          ...types.alternatives(entity),
          description: `What rows of ${entity.name} can be grouped by.`,
          fields: () =>
            keyInputs(
              visible,
              entity,
              types,
              'groupBy',
              takes(null),
              (column) => ({ type: bucketEnum(column), description: `Group by ${shown(column).name}.` }),
              (target) => `Group by the related row of ${target}; without one, its values are null.`,
            ),
        })
      : undefined

/** Undefined without recurring units. */
const makeGroupKeyOrder =
  (visible: RoleVisibility, time: RecurringTime | null): MakePart =>
  (entity, types) => {
    const isSuch = takes(time)
    if (!reachesKey(visible, entity, isSuch)) return undefined
    const part = time === null ? 'groupKeyOrder' : recurringTimes[time].order
    const what = time === null ? 'What of their key' : 'Times that recur by which'
    return new GraphQLInputObjectType({
      name: typeName(entity, part),
      ...types.alternatives(entity),
      description: `${what} groups of rows of ${entity.name} can be sorted${time === null ? ' by' : ''}: what they were grouped by.`,
      fields: () =>
        keyInputs(
          visible,
          entity,
          types,
          part,
          isSuch,
          (column) => ({ type: orderByDirection, description: `Sort by ${shown(column).name} in this direction.` }),
          (target) => `Sort by the related row of ${target}.`,
        ),
    })
  }

/** Undefined without recurring units. */
const makeGroupKey =
  (visible: RoleVisibility, time: RecurringTime | null): MakePart =>
  (entity, types) => {
    const isSuch = takes(time)
    if (!reachesKey(visible, entity, isSuch)) return undefined
    const part = time === null ? 'groupKey' : recurringTimes[time].member
    const what = time === null ? 'What a group' : 'Times that recur, which a group'
    return new GraphQLObjectType({
      name: typeName(entity, part),
      description: `${what} of rows of ${entity.name} has in common; only what was grouped by can be asked for.`,
      fields: () =>
        Object.fromEntries([
          ...[...groupColumns(visible, entity)]
            .filter(([, column]) => isSuch(column))
            .map(([name, column]) => [
              name,
              field(
                time === null ? types.output(shown(column).type) : scalars.Int,
                { kind: 'column', column: column.column },
                time === null
                  ? `The ${name} of all rows of the group, or when the time in which it lies begins.`
                  : recurringTimes[time].help,
              ),
            ]),
          ...[...groupRelations(visible, entity)].flatMap(([name, { relation, target }]) => {
            const type = types.part(target, part) as GraphQLObjectType | undefined
            const help = `What the related rows of ${target.name} have in common; without one, its values are null.`
            return type === undefined
              ? []
              : [[name, field(nonNull(type), { kind: 'relation', relation, target }, help)] as const]
          }),
        ]),
    })
  }

/** The figures that only groups have. */
const makeFigureResult = (visible: RoleVisibility, name: 'countDistinct' | 'every'): MakePart =>
  ofColumns(
    parts[groupFigures[name].result],
    figuresOf(helpOf(name)),
    (entity) => figureColumns(visible, entity, name),
    (column) => {
      const type = scalars[figureType(column, name) as ScalarName]
      return [name === 'countDistinct' ? nonNull(type) : type, helpOf(name)]
    },
  )

const makers = (visible: RoleVisibility): Readonly<Partial<Record<Part, MakePart>>> => ({
  groupBy: makeGroupBy(visible),
  grouped: makeGrouped,
  groupKey: makeGroupKey(visible, null),
  groupOrder: makeGroupOrder,
  groupWidths: makeGroupWidths(visible),
  groupKeyOrder: makeGroupKeyOrder(visible, null),
  dayOfWeek: makeGroupKey(visible, 'DAY_OF_WEEK'),
  dayOfWeekOrder: makeGroupKeyOrder(visible, 'DAY_OF_WEEK'),
  hourOfDay: makeGroupKey(visible, 'HOUR_OF_DAY'),
  hourOfDayOrder: makeGroupKeyOrder(visible, 'HOUR_OF_DAY'),
  having: makeHaving,
  countDistinct: makeFigureResult(visible, 'countDistinct'),
  percentiles: makePercentiles(visible),
  percentileOrder: makePercentileInput('percentileOrder'),
  percentileColumnOrder: makePercentileOrder(visible),
  havingPercentile: makePercentileInput('havingPercentile'),
  havingPercentileColumn: makePercentileHaving(visible),
  listed: makeListed(visible),
  flags: makeFigureResult(visible, 'every'),
  ...Object.fromEntries(
    groupFigureNames.flatMap((name) => [
      [groupFigures[name].order, makeFigureOrder(visible, name)],
      [groupFigures[name].having, makeFigureHaving(visible, name)],
    ]),
  ),
})

export const groups: SchemaAddition = {
  name: 'groups',
  parts,
  types: [...bucketEnums.values()],
  makers,
  connectionFields,
  connectionMembers,
  keysRead,
  connectionValue,
}
