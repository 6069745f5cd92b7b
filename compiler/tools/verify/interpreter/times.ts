import type { ColumnType, Value } from './world.ts'

/** Units of time in which values are put together (spec/graphql.md 17.2). */

/** Minutes east of Greenwich, of zones that never had another offset. */
export const zones: Readonly<Record<string, number>> = { UTC: 0, 'Etc/GMT-5': 300, 'Etc/GMT+8': -480 }

const dateUnits = ['WEEK', 'MONTH', 'QUARTER', 'YEAR']

/** Which units there are for a type, besides the values themselves. */
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

/** When the unit begins in which a value lies; the session's zone is UTC. */
export function bucket({ base }: ColumnType, unit: string, zone: string, value: Value): Value {
  const beginning = begin[unit]
  if (value === null || beginning === undefined) return value
  const isInstant = base === 'timestamptz'
  const shift = isInstant ? (zones[zone] ?? 0) * minute : 0
  const text = String(value).replace(/\.\d+/, '')
  const at = Date.parse(base === 'timestamp' ? `${text}Z` : text)
  const begun = new Date(beginning(new Date(at + shift)) - shift).toISOString()
  if (base === 'date') return begun.slice(0, 10)
  return begun.replace('.000Z', isInstant ? '+00:00' : '')
}
