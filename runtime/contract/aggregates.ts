import type { ColumnFacts } from './manifest.ts'
import type { ScalarName } from './scalar-names.ts'
import type { CorePart } from './name-parts.ts'

/** Figures of the columns of a group (spec/graphql.md 17.2): their result, HAVING and ORDER types. */
export const groupFigures = {
  sum: { result: 'sum', order: 'sumOrder', having: 'havingSum', help: 'The sum of the values, nulls left out.' },
  avg: { result: 'avg', order: 'avgOrder', having: 'havingAvg', help: 'The mean of the values, nulls left out.' },
  min: { result: 'min', order: 'minOrder', having: 'havingMin', help: 'The smallest value, nulls left out.' },
  max: { result: 'max', order: 'maxOrder', having: 'havingMax', help: 'The largest value, nulls left out.' },
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
  readonly result: CorePart
  readonly order: CorePart
  readonly having: CorePart
  readonly help: string
}

export type GroupFigure = keyof typeof groupFigures

export const groupFigureNames = Object.keys(groupFigures) as readonly GroupFigure[]

/** The type that a figure of a column is declared as; null: the column has no such figure. */
export function figureType({ aggregate, order, type }: ColumnFacts, name: GroupFigure): ScalarName | null {
  switch (name) {
    case 'sum':
    case 'avg':
    case 'min':
    case 'max':
      return aggregate[name]
    case 'countDistinct':
      return order ? 'Int' : null
    case 'every':
    case 'some':
      return type?.kind === 'scalar' && type.name === 'Boolean' && !type.list ? 'Boolean' : null
  }
}

/**
 * The values of a field that form one group (spec/graphql.md 17.2): equal ones, those of one unit of time, or those of
 * a recurring unit.
 */
export type BucketName = 'VALUE' | TimeUnit | RecurringTime

export type TimeUnit = 'MINUTE' | 'HOUR' | 'DAY' | 'WEEK' | 'MONTH' | 'QUARTER' | 'YEAR'

/** Recurring units of time: the member of a group with their numbers, and the types of those and of their order. */
export const recurringTimes = {
  DAY_OF_WEEK: {
    member: 'dayOfWeek',
    order: 'dayOfWeekOrder',
    help: 'The day of the week, from 1 for Monday to 7 for Sunday.',
  },
  HOUR_OF_DAY: { member: 'hourOfDay', order: 'hourOfDayOrder', help: 'The hour of the day, from 0 to 23.' },
} as const satisfies Readonly<Record<string, { member: CorePart; order: CorePart; help: string }>>

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
    units: ['MINUTE', 'HOUR', 'DAY', 'WEEK', 'MONTH', 'QUARTER', 'YEAR'],
    recurring: ['DAY_OF_WEEK', 'HOUR_OF_DAY'],
  },
}

export const bucketTables: readonly BucketTable[] = [plain, ...Object.values(byScalar)]

/** Type names that are reserved if rows are grouped. */
export const bucketTypes = bucketTables.map(({ type }) => type)

/** The buckets of values of a scalar; null for other types. */
export const bucketsOf = (scalar: ScalarName | null): BucketTable => (scalar && byScalar[scalar]) ?? plain
