/** The system catalogues that affect an API (PostgreSQL manual, chapter "System Catalogs"). */
const catalogs = [
  'pg_namespace',
  'pg_class',
  'pg_attribute',
  'pg_constraint',
  'pg_index',
  'pg_type',
  'pg_enum',
  'pg_proc',
  'pg_description',
  'pg_depend',
  'pg_auth_members',
] as const

/**
 * The number of rows of a catalogue and the transactions that wrote them; `age` is relative to one transaction within a
 * statement, so the differences are stable. Rows of the initial cluster (transactions 1 and 2) have no age.
 */
const writtenRows = (catalog: string): string => `(select pg_catalog.count(*) || ':' || coalesce(pg_catalog.sum(
    pg_catalog.age('3'::pg_catalog.xid)::pg_catalog.int8 - pg_catalog.age(xmin)::pg_catalog.int8), 0)
  from pg_catalog.${catalog} where xmin <> '1'::pg_catalog.xid and xmin <> '2'::pg_catalog.xid)`

/**
 * The version of a schema without event triggers: an SQL expression of type text that differs after any write to one of
 * the catalogues, even if no API shows it. It takes about 1 ms for a few tables, 3 for 500 and 11 for 2,000 (engine.md
 * 6): too much for every request, little for one per second.
 */
export const writtenExpression = `pg_catalog.concat_ws(' ',
  ${catalogs.map(writtenRows).join(',\n  ')},
  (select pg_catalog.sum(pg_catalog.hashtextextended(rolname::pg_catalog.text,
      oid::pg_catalog.int8 * 8 + rolbypassrls::pg_catalog.int4 * 4 + rolsuper::pg_catalog.int4 * 2
        + rolinherit::pg_catalog.int4))
    from pg_catalog.pg_roles),
  (select datdba from pg_catalog.pg_database where datname = pg_catalog.current_database()))`
