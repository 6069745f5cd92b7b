import { sql, type Sql } from './tree.ts'

/**
 * The condition that a value is null. `is null` is also true for a composite value whose attributes are all null, and
 * `is not null` only for one without a null attribute (PostgreSQL manual 9.2); these compare the value as a whole. For
 * all other types Postgres treats both forms as equal, so that an index serves either.
 */
export const isNull = (value: Sql): Sql => sql`${value} is not distinct from null`

/** The condition that a value is not null: see isNull. */
export const isNotNull = (value: Sql): Sql => sql`${value} is distinct from null`
