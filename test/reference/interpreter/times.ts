import type { ColumnType, Value } from './world.ts'

/** Units of time for groups (spec/graphql.md 17.2). */

/** Minutes east of Greenwich, of zones that never had another offset. */
export const zones: Readonly<Record<string, number>> = { UTC: 0, 'Etc/GMT-5': 300, 'Etc/GMT+8': -480 }

const dateUnits = ['WEEK', 'MONTH', 'QUARTER', 'YEAR']

/** The units of a type, besides the values themselves. */
export const unitsOf = ({ base, list }: ColumnType): readonly string[] =>
  list
    ? []
    : base === 'date'
      ? dateUnits
      : base === 'timestamp' || base === 'timestamptz'
        ? ['MINUTE', 'HOUR', 'DAY', ...dateUnits]
        : []

const minute = 60_000

const begin: Readonly<Record<string, (at: Date) => number>> = {
  MINUTE: (at) => Math.floor(at.getTime() / minute) * minute,
  HOUR: (at) => Math.floor(at.getTime() / (60 * minute)) * 60 * minute,
  DAY: (at) => dayOf(at),
  // 0 is Sunday, weeks begin on Monday.
  WEEK: (at) => dayOf(at) - ((at.getUTCDay() + 6) % 7) * 1_440 * minute,
  MONTH: (at) => Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), 1),
  QUARTER: (at) => Date.UTC(at.getUTCFullYear(), at.getUTCMonth() - (at.getUTCMonth() % 3), 1),
  YEAR: (at) => Date.UTC(at.getUTCFullYear(), 0, 1),
}

const dayOf = (at: Date): number => Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate())

/** The start of the unit with a value. */
export function bucket(type: ColumnType, unit: string, zone: string, value: Value): Value {
  const beginning = begin[unit]
  if (value === null || beginning === undefined) return value
  const { at, shift } = localTime(type, zone, value)
  const begun = new Date(beginning(at) - shift).toISOString()
  if (type.base === 'date') return begun.slice(0, 10)
  return begun.replace('.000Z', type.base === 'timestamptz' ? '+00:00' : '')
}

/** Local time there as if it were UTC, and its offset; the session's zone is UTC. */
function localTime({ base }: ColumnType, zone: string, value: Value): { readonly at: Date; readonly shift: number } {
  const shift = base === 'timestamptz' ? (zones[zone] ?? 0) * minute : 0
  const text = String(value).replace(/\.\d+/, '')
  return { at: new Date(Date.parse(base === 'timestamp' ? `${text}Z` : text) + shift), shift }
}

/** Recurring units of time: the member of a group with the number, and the number. */
const recurring: Readonly<Record<string, { readonly member: string; readonly numberOf: (at: Date) => number }>> = {
  DAY_OF_WEEK: { member: 'dayOfWeek', numberOf: (at) => ((at.getUTCDay() + 6) % 7) + 1 },
  HOUR_OF_DAY: { member: 'hourOfDay', numberOf: (at) => at.getUTCHours() },
}

export const recurringMembers = Object.values(recurring).map(({ member }) => member)

/** Undefined: the bucket is not a recurring unit. */
export const recurringMember = (bucketName: string): string | undefined => recurring[bucketName]?.member

/** The recurring units of a type. */
export const recurringOf = ({ base, list }: ColumnType): readonly string[] =>
  list
    ? []
    : base === 'date'
      ? ['DAY_OF_WEEK']
      : base === 'timestamp' || base === 'timestamptz'
        ? ['DAY_OF_WEEK', 'HOUR_OF_DAY']
        : []

export function recurringNumber(type: ColumnType, time: string, zone: string, value: Value): Value {
  const known = recurring[time]
  return value === null || known === undefined ? null : String(known.numberOf(localTime(type, zone, value).at))
}
