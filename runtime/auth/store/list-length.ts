/** For larger lists the length is the estimate of Postgres: counting would take longer than the page. */
const countedTo = 1_000_000

/** The length of a list of all rows of a table with a condition that nearly all rows meet (spec/auth.md 11). */
export const listLength = (table: string, condition: string): string =>
  `select case when c.reltuples > ${countedTo} then c.reltuples::float8
    else (select count(*) from ${table} where ${condition})::float8 end as total
  from pg_catalog.pg_class c where c.oid = '${table}'::pg_catalog.regclass`
