import { figures } from '../../../runtime/contract/aggregates.ts'
import type { ColumnFacts } from '../../../runtime/contract/manifest.ts'
import type { NamePart } from '../../../runtime/contract/name-parts.ts'
import type { ScalarName } from '../../../runtime/contract/scalar-names.ts'

/** The types of a relation that the addition brings. */
export const parts = {
  groupBy: 'GroupBy',
  grouped: 'Grouped',
  groupKey: 'GroupKey',
  groupWidths: 'GroupWidths',
  groupOrder: 'GroupOrder',
  groupKeyOrder: 'GroupKeyOrder',
  dayOfWeek: 'GroupDayOfWeek',
  dayOfWeekOrder: 'GroupDayOfWeekOrder',
  hourOfDay: 'GroupHourOfDay',
  hourOfDayOrder: 'GroupHourOfDayOrder',
  sumOrder: 'SumOrder',
  avgOrder: 'AvgOrder',
  minOrder: 'MinOrder',
  maxOrder: 'MaxOrder',
  having: 'Having',
  havingSum: 'HavingSum',
  havingAvg: 'HavingAvg',
  havingMin: 'HavingMin',
  havingMax: 'HavingMax',
  countDistinct: 'CountDistinctResult',
  countDistinctOrder: 'CountDistinctOrder',
  havingCountDistinct: 'HavingCountDistinct',
  flags: 'FlagResult',
  flagOrder: 'FlagOrder',
  havingFlag: 'HavingFlag',
  percentiles: 'PercentileResult',
  percentileOrder: 'PercentileOrder',
  percentileColumnOrder: 'PercentileColumnOrder',
  havingPercentile: 'HavingPercentile',
  havingPercentileColumn: 'HavingPercentileColumn',
  listed: 'ValuesResult',
} as const

type Parts = typeof parts

declare module '../../../runtime/contract/name-parts.ts' {
  interface AddedParts extends Parts {}
}

declare module '../../../runtime/contract/manifest.ts' {
  interface EntityAdditions {
    /** Its connections have `groups`. */
    readonly groups?: true
  }
  interface Manifest {
    /** Some relation has `groups` on, which adds the types of groups (spec/graphql.md 17.2). */
    readonly groups?: true
  }
}

declare module '../../../runtime/engine/meaning.ts' {
  interface AddedMembers extends Readonly<
    Record<'groups' | 'key' | RecurringMember | 'countDistinct' | 'every' | 'some' | 'percentile' | 'values', true>
  > {}
}

/** Figures of the columns of a group (spec/graphql.md 17.2): their result, HAVING and ORDER types. */
export const groupFigures = {
  sum: { ...figures.sum, order: 'sumOrder', having: 'havingSum' },
  avg: { ...figures.avg, order: 'avgOrder', having: 'havingAvg' },
  min: { ...figures.min, order: 'minOrder', having: 'havingMin' },
  max: { ...figures.max, order: 'maxOrder', having: 'havingMax' },
  countDistinct: {
    result: 'countDistinct',
    order: 'countDistinctOrder',
    having: 'havingCountDistinct',
    help: 'How many different values there are, nulls left out.',
  },
  every: {
    result: 'flags',
    order: 'flagOrder',
    having: 'havingFlag',
    help: 'Whether all of the values are true, nulls left out.',
  },
  some: {
    result: 'flags',
    order: 'flagOrder',
    having: 'havingFlag',
    help: 'Whether any of the values is true, nulls left out.',
  },
} as const satisfies Readonly<Record<string, Figure>>

interface Figure {
  readonly result: NamePart
  readonly order: keyof Parts
  readonly having: keyof Parts
  readonly help: string
}

/** Of percentiles, which have an argument: the types of their order and conditions. */
export const percentileParts = { order: 'percentileOrder', having: 'havingPercentile' } as const

export type GroupFigure = keyof typeof groupFigures

/** `every` and `some` have the same types. */
export const helpOf = (name: GroupFigure): string =>
  groupFigures[name].result === 'flags' ? 'Whether the values are true, nulls left out.' : groupFigures[name].help

export const groupFigureNames = Object.keys(groupFigures) as readonly GroupFigure[]

/** The type that a figure of a column is declared as; null: the column has no such figure. */
export function figureType({ aggregate, order, type }: ColumnFacts, name: GroupFigure): ScalarName | null {
  if (name === 'countDistinct') return order ? 'Int' : null
  if (name !== 'every' && name !== 'some') return aggregate[name]
  return type?.kind === 'scalar' && type.name === 'Boolean' && !type.list ? 'Boolean' : null
}

/**
 * The values of a field that form one group (spec/graphql.md 17.2): equal ones, those of one unit of time, or those of
 * a recurring unit.
 */
export type BucketName = 'VALUE' | TimeUnit | RecurringTime

/** Units of time, and the values of one group by each. */
export const timeUnits = {
  MINUTE: 'Those of one minute.',
  HOUR: 'Those of one hour.',
  DAY: 'Those of one day.',
  WEEK: 'Those of one week, from Monday on.',
  MONTH: 'Those of one month.',
  QUARTER: 'Those of one quarter of a year.',
  YEAR: 'Those of one year.',
} as const

export type TimeUnit = keyof typeof timeUnits

/** Recurring units of time: the member of a group with their numbers, the types of those and of their order, and their bucket. */
export const recurringTimes = {
  DAY_OF_WEEK: {
    member: 'dayOfWeek',
    order: 'dayOfWeekOrder',
    help: 'The day of the week, from 1 for Monday to 7 for Sunday.',
    bucket: 'Those of one day of the week, whichever week; the answer has it as `dayOfWeek`.',
  },
  HOUR_OF_DAY: {
    member: 'hourOfDay',
    order: 'hourOfDayOrder',
    help: 'The hour of the day, from 0 to 23.',
    bucket: 'Those of one hour of the day, whichever day; the answer has it as `hourOfDay`.',
  },
} as const satisfies Readonly<Record<string, { member: NamePart; order: NamePart; help: string; bucket: string }>>

export type RecurringTime = keyof typeof recurringTimes

/** The members of a group with the numbers. */
export type RecurringMember = (typeof recurringTimes)[RecurringTime]['member']

export const recurringNames = Object.keys(recurringTimes) as readonly RecurringTime[]

interface BucketTable {
  /** The enum that names the buckets. */
  readonly type: string
  readonly units: readonly TimeUnit[]
  readonly recurring: readonly RecurringTime[]
}

const plain: BucketTable = { type: 'GroupByValue', units: [], recurring: [] }

const byScalar: Readonly<Partial<Record<ScalarName, BucketTable>>> = {
  Date: { type: 'GroupByDate', units: ['WEEK', 'MONTH', 'QUARTER', 'YEAR'], recurring: ['DAY_OF_WEEK'] },
  Datetime: {
    type: 'GroupByDatetime',
    units: Object.keys(timeUnits) as readonly TimeUnit[],
    recurring: ['DAY_OF_WEEK', 'HOUR_OF_DAY'],
  },
}

export const bucketTables: readonly BucketTable[] = [plain, ...Object.values(byScalar)]

/** The buckets of values of a column. */
export const bucketsOf = ({ type }: ColumnFacts): BucketTable =>
  (type?.kind === 'scalar' ? byScalar[type.name] : undefined) ?? plain

/** Whether a column is a key by a recurring time; null: by its values. */
export const hasBucketAt =
  (time: RecurringTime | null) =>
  (column: ColumnFacts): boolean =>
    time === null || bucketsOf(column).recurring.includes(time)

export const typeNames = bucketTables.map(({ type }) => type)
