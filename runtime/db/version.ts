/** The part of the version that a committed change of the schema changes: the text before the first point. */
export const counterExpression = `(select coalesce(pg_catalog.sum(n), 0)::text from catalograph.schema_version)`

/**
 * The schema version: an SQL expression of type text that changes, from one committed state to the next, whenever the
 * API may look different (engine-room 5.3 and 5.4). Select it in the catalogue's own statement: both then come from
 * one snapshot. Any role may evaluate it once compiler/prepare has run.
 *
 * First the DDL counter that event triggers keep. Roles fire no event trigger, so hashes tell of them: over the rows
 * of pg_auth_members, and over what decides privileges in pg_roles.
 */
export const versionExpression = `(
  ${counterExpression}
  || '.' || (select coalesce(pg_catalog.sum(pg_catalog.hash_record_extended(m, 0)), 0)::text
    from pg_catalog.pg_auth_members m)
  || '.' || (select pg_catalog.sum(pg_catalog.hashtextextended(rolname::text,
      oid::bigint * 4 + rolsuper::int * 2 + rolinherit::int))::text
    from pg_catalog.pg_roles)
  || '.' || (select datdba::text from pg_catalog.pg_database where datname = pg_catalog.current_database())
)`
