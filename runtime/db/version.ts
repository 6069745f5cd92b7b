/**
 * The schema version: an SQL expression that changes, from one committed state to the next, whenever the API may look
 * different (engine-room 5.3 and 5.4). Select it in the catalogue's own statement, so that both come from one snapshot.
 *
 * First the DDL counter that the event triggers of compiler/prepare keep. Role memberships and attributes fire no event
 * trigger, so they are told by themselves: memberships by count and row versions (a sum of transaction ids, in the cheap
 * form that was measured), attributes by a hash over what decides privileges.
 */
export const versionExpression = `(
  (select coalesce(pg_catalog.sum(n), 0)::text from catalograph.schema_version)
  || '.' || (select pg_catalog.count(*)::text || '.'
      || coalesce(pg_catalog.sum(pg_catalog.age('3'::xid) - pg_catalog.age(xmin)), 0)::text
    from pg_catalog.pg_auth_members)
  || '.' || (select pg_catalog.sum(pg_catalog.hashtextextended(rolname,
      oid::bigint * 4 + rolsuper::int * 2 + rolinherit::int))::text
    from pg_catalog.pg_roles)
)`
