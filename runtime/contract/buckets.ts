import type { ScalarName } from './scalar-names.ts'

/** What values of a field come into one group (spec/graphql.md 17.2): equal ones, or those of one stretch of time. */
export type BucketName = 'VALUE' | TimeUnit

export type TimeUnit = 'MINUTE' | 'HOUR' | 'DAY' | 'WEEK' | 'MONTH' | 'QUARTER' | 'YEAR'

interface BucketTable {
  /** The enum that names the buckets. */
  readonly type: string
  readonly units: readonly TimeUnit[]
}

const plain: BucketTable = { type: 'GroupByValue', units: [] }

const byScalar: Readonly<Partial<Record<ScalarName, BucketTable>>> = {
  Date: { type: 'GroupByDate', units: ['WEEK', 'MONTH', 'QUARTER', 'YEAR'] },
  Datetime: { type: 'GroupByDatetime', units: ['MINUTE', 'HOUR', 'DAY', 'WEEK', 'MONTH', 'QUARTER', 'YEAR'] },
}

export const bucketTables: readonly BucketTable[] = [plain, ...Object.values(byScalar)]

/** Names of types that are nobody else's where rows are grouped. */
export const bucketTypes = bucketTables.map(({ type }) => type)

/** The buckets of values of a scalar; null: of what is no scalar. */
export const bucketsOf = (scalar: ScalarName | null): BucketTable => (scalar && byScalar[scalar]) ?? plain
