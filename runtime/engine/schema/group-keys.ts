import { GraphQLEnumType, GraphQLInputObjectType, GraphQLObjectType, type GraphQLInputType } from 'graphql'
import {
  bucketsOf,
  bucketTables,
  recurringTimes,
  type RecurringTime,
  type TimeUnit,
} from '../../contract/aggregates.ts'
import type { ColumnFacts, EntityFacts } from '../../contract/manifest.ts'
import type { CorePart } from '../../contract/name-parts.ts'
import { writtenEnum } from '../meaning.ts'
import { groupColumns, groupRelations, reachesKey } from '../related.ts'
import type { RoleVisibility } from '../view.ts'
import { orderByDirection } from './filters.ts'
import type { InputField } from './related.ts'
import { scalars } from './scalars.ts'
import { field, nonNull, shown, typeName, type MakePart, type SchemaTypes } from './types.ts'

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
export const bucketEnums: ReadonlyMap<string, GraphQLEnumType> = new Map(
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
  part: CorePart,
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

export const makeGroupBy =
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
export const makeGroupKeyOrder =
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
export const makeGroupKey =
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
