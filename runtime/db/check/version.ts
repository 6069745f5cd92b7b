/** The part of the version that a committed change of the schema changes: the text before the point. */
export const counterExpression = `(select coalesce(pg_catalog.sum(n), 0)::text from catalograph.schema_version)`

/** The part that membership and attributes of roles decide. Commands on roles fire no event trigger. */
export const rolesExpression = `(select pg_catalog.sum(h)::text from (
    select pg_catalog.hash_record_extended(m, 0) from pg_catalog.pg_auth_members m
    union all
    select pg_catalog.hashtextextended(rolname::text, oid::bigint * 8 + rolbypassrls::int * 4 + rolsuper::int * 2 + rolinherit::int)
    from pg_catalog.pg_roles
    union all
    select pg_catalog.hashint8extended(datdba::bigint, 1) from pg_catalog.pg_database
    where datname = pg_catalog.current_database()
  ) facts (h))`

/**
 * The schema version: an SQL expression of type text that changes, from one committed state to the next, whenever the
 * API may look different (engine.md 4 and 5). Select it in the statement that reads the catalogue: both then come from
 * one snapshot. Any role may evaluate it once compiler/following/prepare has run.
 *
 * First the counter that event triggers keep. Commands on roles fire no event trigger, so a hash follows: over the rows
 * of pg_auth_members, over the columns of pg_roles that decide privileges, and over the owner of the database.
 */
export const versionExpression = `(
  ${counterExpression}
  || '.' || ${rolesExpression}
)`

/**
 * Of type bigint: a random number that changes whenever a change is counted, before the change is committed. It is a
 * sequence because every session sees its new value at once, even if the transaction rolls back (manual 9.17). Any role
 * may evaluate it.
 */
export const markExpression = "pg_catalog.pg_sequence_last_value('catalograph.schema_mark'::pg_catalog.regclass)"

/** The counter at the beginning of a version. */
export const counterOf = (version: string): string => version.slice(0, version.indexOf('.'))

/**
 * The version check as a function, which compiler/following/prepare creates: it returns true or raises SQLSTATE CG001. It is a
 * function because Postgres initializes every expression of a statement, which costs most of what evaluating it does. Its
 * snapshot is that of the statement that calls it.
 * @param version SQL of type text: a whole version, or its counter alone where nothing else of it is to be compared
 * @param holders with `held` the role's privileges (contract/execution.ts), or null
 */
export const currentCall = (version: string, holders: string, held: string): string =>
  `catalograph.current(${version}, ${holders}, ${held})`

/**
 * Its body. The roles whose privileges a role has decide what it may see. Where `holders` is given, the function compares
 * those alone, from Postgres' cache: to read the catalogues of roles costs several times as much. That it bypasses row-level
 * security or does not counts where rows are distributed, and is held then.
 *
 * A transaction that changed the schema itself, by a function that it calls, passes: the event triggers set `changed`.
 */
export const currentBody = `
declare
  now text;
  holder text;
begin
  if pg_catalog.current_setting('catalograph.changed', true) in ('on', 'all') then return true; end if;
  if pg_catalog.strpos(version, '.') = 0 then
    now := ${counterExpression};
  else
    now := ${versionExpression};
  end if;
  if now <> version then
    raise exception using errcode = 'CG001', message = 'the schema is now at version ' || now;
  end if;
  if holders is null then return true; end if;
  now := pg_catalog.current_setting('is_superuser');
  foreach holder in array holders::text[] loop
    now := now || pg_catalog.pg_has_role(holder::name, 'USAGE')::int;
  end loop;
  if now = held then return true; end if;
  now := now || ' ' || (select r.rolbypassrls::text from pg_catalog.pg_roles r where r.rolname = current_user);
  if now = held then return true; end if;
  raise exception using errcode = 'CG001', message = 'the role has other privileges now';
end
`
