/**
 * Two releases prepare one database. The number of the newest preparation is the comment of schema catalograph; a
 * release that finds a higher one than its own leaves functions as they are, so that processes of neighbouring releases
 * can start in any order. Functions that an older release calls must keep their meaning: a function that means something else
 * gets another name.
 */

/** Raised by one with each change of the statements; test/compiler/preparation.test.ts holds their digest. */
export const preparationNumber = 1

/** SQL of the recorded number; 0: none. */
export const recordedNumber = `coalesce((
    select (pg_catalog.regexp_match(pg_catalog.obj_description(n.oid, 'pg_namespace'), '^preparation (\\d+)$'))[1]::int
    from pg_catalog.pg_namespace n where n.nspname = 'catalograph'), 0)`

/** SQL condition: a newer release has prepared the database. */
export const isPreparedByNewer = `${recordedNumber} > ${preparationNumber}`
