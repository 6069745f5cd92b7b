/** The part of the version that a committed change of the schema changes: the text before the point. */
export const counterExpression = `(select coalesce(pg_catalog.sum(n), 0)::text from catalograph.schema_version)`

/**
 * The schema version: an SQL expression of type text that changes, from one committed state to the next, whenever the
 * API may look different (engine-room 5.3 and 5.4). Select it in the catalogue's own statement: both then come from
 * one snapshot. Any role may evaluate it once compiler/prepare has run.
 *
 * First the DDL counter that event triggers keep. Roles fire no event trigger, so a hash tells of them: over the rows of
 * pg_auth_members, over what decides privileges in pg_roles, and over the owner of the database.
 */
export const versionExpression = `(
  ${counterExpression}
  || '.' || (select pg_catalog.sum(h)::text from (
    select pg_catalog.hash_record_extended(m, 0) from pg_catalog.pg_auth_members m
    union all
    select pg_catalog.hashtextextended(rolname::text, oid::bigint * 4 + rolsuper::int * 2 + rolinherit::int)
    from pg_catalog.pg_roles
    union all
    select pg_catalog.hashint8extended(datdba::bigint, 1) from pg_catalog.pg_database
    where datname = pg_catalog.current_database()
  ) facts (h))
)`

/**
 * The same as functions, made by compiler/prepare. A statement that may have to ask calls them: an expression that is
 * not needed is set up all the same, which costs most of what evaluating it does.
 */
export const counterCall = 'catalograph.counter()'
export const versionCall = 'catalograph.version()'
