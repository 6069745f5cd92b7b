import type { NamePart } from './name-parts.ts'
import type { ScalarName } from './scalar-names.ts'

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
} as const satisfies Readonly<Record<string, { member: NamePart; order: NamePart; help: string }>>

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
