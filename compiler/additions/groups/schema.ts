import {
  GraphQLEnumType,
  GraphQLInputObjectType,
  GraphQLList,
  GraphQLObjectType,
  type GraphQLInputType,
  type GraphQLNamedType,
  type GraphQLOutputType,
  type GraphQLScalarType,
} from 'graphql'
import type { ColumnFacts, EntityFacts } from '../../../runtime/contract/manifest.ts'
import type { ScalarName } from '../../../runtime/contract/scalar-names.ts'
import type { SchemaAddition } from '../../../runtime/engine/additions.ts'
import { writtenEnum } from '../../../runtime/engine/meaning.ts'
import { figureFields, figuresOf, ofColumns } from '../../../runtime/engine/schema/collections.ts'
import { orderByDirection, scalarFilters, scalars } from '../../../runtime/engine/schema/scalars.ts'
import type { InputField } from '../../../runtime/engine/schema/related.ts'
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
import type { Related } from '../../../runtime/engine/related.ts'
import type { RoleVisibility } from '../../../runtime/engine/view.ts'
import {
  bucketsOf,
  bucketTables,
  figureType,
  groupFigureNames,
  groupFigures,
  hasBucketAt,
  helpOf,
  parts,
  percentileParts,
  recurringNames,
  recurringTimes,
  timeUnits,
  type GroupFigure,
  type RecurringTime,
} from './facts.ts'
import {
  comparedFigures,
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

type InputFields = Readonly<Record<string, InputField[1]>>

/** Inputs that take exactly one member. */
const isChoice = (part: Part): boolean => part === 'groupBy' || (part.endsWith('Order') && part !== 'percentileOrder')

const inputType = (
  entity: EntityFacts,
  types: SchemaTypes,
  part: Part,
  description: string,
  fields: () => InputFields,
): GraphQLInputObjectType =>
  new GraphQLInputObjectType({
    name: typeName(entity, part),
    ...(isChoice(part) && types.alternatives(entity)),
    description,
    fields,
  })

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
  inputType(entity, types, 'groupOrder', `What groups of rows of ${entity.name} can be sorted by.`, () => ({
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
  }))

const figureInputs = (
  entity: EntityFacts,
  types: SchemaTypes,
  use: 'order' | 'having',
  description: string,
): InputFields =>
  Object.fromEntries(
    [...groupFigureNames, 'percentile' as const].flatMap((name): readonly InputField[] => {
      const part = name === 'percentile' ? percentileParts[use] : groupFigures[name][use]
      const type = types.part(entity, part) as GraphQLInputType | undefined
      return type === undefined ? [] : [[name, { type, description }]]
    }),
  )

/** Undefined if no column has the figure. */
const makeFigureInput =
  (
    part: Part,
    describe: (rows: string) => string,
    columnsOf: (entity: EntityFacts) => readonly ColumnFacts[],
    fieldOf: (column: ColumnFacts) => InputField,
  ): MakePart =>
  (entity, types) => {
    const columns = columnsOf(entity)
    if (columns.length === 0) return undefined
    return inputType(entity, types, part, describe(`rows of ${entity.name}`), () =>
      Object.fromEntries(columns.map(fieldOf)),
    )
  }

const orderField = (column: ColumnFacts): InputField => {
  const { name } = shown(column)
  return [name, { type: orderByDirection, description: `Sort by that of ${name} in this direction.` }]
}

const conditionField = (column: ColumnFacts, scalar: ScalarName): InputField => {
  const { name } = shown(column)
  return [name, { type: scalarFilters.get(scalar) as GraphQLInputType, description: `Conditions on that of ${name}.` }]
}

const makeFigureOrder = (visible: RoleVisibility, name: GroupFigure): MakePart =>
  makeFigureInput(
    groupFigures[name].order,
    (rows) => `Figures that groups of ${rows} can be sorted by. ${helpOf(name)}`,
    (entity) => figureColumns(visible, entity, name),
    orderField,
  )

const makeFigureHaving = (visible: RoleVisibility, name: GroupFigure): MakePart =>
  makeFigureInput(
    groupFigures[name].having,
    (rows) => `Conditions on figures of groups of ${rows}; all that are given must hold. ${helpOf(name)}`,
    (entity) => comparedFigures(visible, entity, name),
    (column) => conditionField(column, figureType(column, name) as ScalarName),
  )

/** Undefined without numeric columns. */
const makePercentileInput =
  (part: 'percentileOrder' | 'havingPercentile'): MakePart =>
  (entity, types) => {
    const of = types.part(entity, part === 'percentileOrder' ? 'percentileColumnOrder' : 'havingPercentileColumn')
    if (of === undefined) return undefined
    const ofFields = { type: of as GraphQLInputType, description: 'Of which fields.' }
    const description = `Percentiles of groups of rows of ${entity.name}, nulls left out.`
    return inputType(entity, types, part, description, () => ({ at: percentileAt, of: ofFields }))
  }

const makePercentileOrder = (visible: RoleVisibility): MakePart =>
  makeFigureInput(
    'percentileColumnOrder',
    (rows) => `Fields by whose percentile groups of ${rows} can be sorted.`,
    (entity) => measuredColumns(visible, entity),
    orderField,
  )

const makePercentileHaving = (visible: RoleVisibility): MakePart =>
  makeFigureInput(
    'havingPercentileColumn',
    (rows) => `Conditions on percentiles of groups of ${rows}; all that are given must hold.`,
    (entity) => measuredColumns(visible, entity),
    (column) => conditionField(column, 'Float'),
  )

/** The argument of a percentile. */
const percentileAt = {
  type: nonNull(scalars.Float),
  description: 'Which part of the values lies below: 0.5 is the median, 0 the smallest value, 1 the largest.',
}

const makeHaving: MakePart = (entity, types) => {
  const description = `Conditions on groups of rows of ${entity.name}; all that are given must hold.`
  const self: GraphQLInputObjectType = inputType(entity, types, 'having', description, () => {
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

/** Groups of whole numbers begin at whole numbers. */
const widthOf = ({ type }: ColumnFacts): GraphQLScalarType =>
  type?.kind === 'scalar' && (type.name === 'Int' || type.name === 'BigInt') ? scalars.BigInt : scalars.BigFloat

/** The keys of groups: the common values, and numbers of recurring units of time (spec/graphql.md 17.2). */

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
        ...Object.fromEntries(units.map((unit) => [unit, { description: timeUnits[unit] }])),
        ...Object.fromEntries(recurring.map((time) => [time, { description: recurringTimes[time].bucket }])),
      },
    }),
  ]),
)

/** A type with a member for each possible key, and for each related row with such; undefined without any. */
const makeKeys =
  <Member>(
    visible: RoleVisibility,
    part: Part,
    isSuch: (column: ColumnFacts) => boolean,
    columnMember: (column: ColumnFacts, types: SchemaTypes) => Member,
    relatedMember: (name: string, type: GraphQLNamedType, related: Related) => Member,
    make: (entity: EntityFacts, types: SchemaTypes, fields: () => Record<string, Member>) => GraphQLNamedType,
  ): MakePart =>
  (entity, types) => {
    if (!reachesKey(visible, entity, isSuch)) return undefined
    return make(entity, types, () => {
      const columns = [...groupColumns(visible, entity)].filter(([, column]) => isSuch(column))
      const related = [...groupRelations(visible, entity)].flatMap(([name, found]) => {
        const type = types.part(found.target, part)
        return type === undefined ? [] : [[name, relatedMember(name, type, found)] as const]
      })
      return Object.fromEntries([
        ...columns.map(([name, column]) => [name, columnMember(column, types)] as const),
        ...related,
      ])
    })
  }

const makeKeyInput = (
  visible: RoleVisibility,
  part: Part,
  isSuch: (column: ColumnFacts) => boolean,
  describe: (rows: string) => string,
  column: (column: ColumnFacts) => InputField[1],
  describeRelated: (name: string, target: EntityFacts) => string,
): MakePart =>
  makeKeys(
    visible,
    part,
    isSuch,
    column,
    (name, type, { target }) => ({ type: type as GraphQLInputType, description: describeRelated(name, target) }),
    (entity, types, fields) => inputType(entity, types, part, describe(`rows of ${entity.name}`), fields),
  )

/** Widths of groups of numbers (spec/graphql.md 17.2). */
const makeGroupWidths = (visible: RoleVisibility): MakePart =>
  makeKeyInput(
    visible,
    'groupWidths',
    isMeasured,
    (rows) => `How far groups of ${rows} reach by numbers.`,
    (column) => ({ type: widthOf(column), description: `How far groups by ${shown(column).name} reach; more than 0.` }),
    (name) => `How far groups by ${name} reach.`,
  )

const makeGroupBy = (visible: RoleVisibility): MakePart =>
  makeKeyInput(
    visible,
    'groupBy',
    hasBucketAt(null),
    (rows) => `What ${rows} can be grouped by.`,
    (column) => ({
      type: bucketEnums.get(bucketsOf(column).type) as GraphQLEnumType,
      description: `Group by ${shown(column).name}.`,
    }),
    (_, target) => `Group by the related row of ${target.name}; without one, its values are null.`,
  )

const makeGroupKeyOrder = (visible: RoleVisibility, time: RecurringTime | null): MakePart =>
  makeKeyInput(
    visible,
    time === null ? 'groupKeyOrder' : recurringTimes[time].order,
    hasBucketAt(time),
    (rows) =>
      time === null
        ? `What of their key groups of ${rows} can be sorted by: what they were grouped by.`
        : `Times that recur by which groups of ${rows} can be sorted: what they were grouped by.`,
    (column) => ({ type: orderByDirection, description: `Sort by ${shown(column).name} in this direction.` }),
    (_, target) => `Sort by the related row of ${target.name}.`,
  )

function makeGroupKey(visible: RoleVisibility, time: RecurringTime | null): MakePart {
  const part = time === null ? 'groupKey' : recurringTimes[time].member
  const what = time === null ? 'What a group' : 'Times that recur, which a group'
  return makeKeys(
    visible,
    part,
    hasBucketAt(time),
    (column, types) => {
      const { name, type } = shown(column)
      const meaning = { kind: 'column', column: column.column } as const
      return time === null
        ? field(
            types.output(type),
            meaning,
            `The ${name} of all rows of the group, or when the time in which it lies begins.`,
          )
        : field(scalars.Int, meaning, recurringTimes[time].help)
    },
    (_, type, related) =>
      field(
        nonNull(type as GraphQLObjectType),
        { kind: 'relation', ...related },
        `What the related rows of ${related.target.name} have in common; without one, its values are null.`,
      ),
    (entity, _, fields) =>
      new GraphQLObjectType({
        name: typeName(entity, part),
        description: `${what} of rows of ${entity.name} has in common; only what was grouped by can be asked for.`,
        fields,
      }),
  )
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
