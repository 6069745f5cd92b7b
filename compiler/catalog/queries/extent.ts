/**
 * SQL that several parts of the catalogue query use.
 *
 * A role that may create objects in a schema of the search path could define a closer match for a function or an
 * operator of this statement. Therefore every relation and function is qualified, and every operator has operands for
 * which pg_catalog holds an exact match: constants are quoted (`'0'`) if they must take the type of a column.
 */

/** Grants of an object: its ACL, or the default for an absent one. Letters: PostgreSQL manual, function acldefault. */
export const aclOf = (acl: string, letter: 'r' | 'n' | 'f' | 'T', owner: string): string =>
  `coalesce(${acl}, pg_catalog.acldefault('${letter}', ${owner}))`

/** Grants to more roles are sent once, and referenced by a hash. */
const longAcl = 16

/** The key of an ACL in an answer: its text, or a hash of a long one, which each of thousands of tables may have. */
export const aclKey = (acl: string): string => `case when pg_catalog.cardinality(${acl}) > '${longAcl}'
      then (select pg_catalog.concat(pg_catalog.hashtextextended(long.acl, '0'), ' ', pg_catalog.hashtextextended(long.acl, '1'))
        from (select ${acl}::pg_catalog.text as acl offset '0') long)
      else ${acl}::pg_catalog.text end`

export const classOf = (catalog: string): string => `'pg_catalog.${catalog}'::pg_catalog.regclass::pg_catalog.oid`

/** The comment on an object; `number` is the column's, 0 for the object itself. */
export const commentOf = (alias: string, catalog: string, oid: string): string =>
  `left join pg_catalog.pg_description ${alias} on ${alias}.objoid = ${oid}
    and ${alias}.classoid = ${classOf(catalog)} and ${alias}.objsubid = '0'`

/** The rule of format_type and get_element_type: int2vector, oidvector and name are not arrays. */
export const isArray = (alias: string): string =>
  `${alias}.typelem <> '0' and ${alias}.typstorage <> 'p'
    and ${alias}.typsubscript::pg_catalog.oid
      = 'pg_catalog.array_subscript_handler'::pg_catalog.regproc::pg_catalog.oid`

/**
 * The transaction that wrote the row, as an int8: a changed or re-inserted row has a different one. `age` is relative to
 * one transaction within a statement, so the difference is equal in all statements.
 */
export const writtenBy = (row: string): string =>
  `pg_catalog.age('3'::pg_catalog.xid)::pg_catalog.int8 - pg_catalog.age(${row}.xmin)::pg_catalog.int8`

/** Hash of a catalogue row; `number` distinguishes it from the other rows of its object. */
export const rowHash = (row: string, number: string): string =>
  `pg_catalog.hashint8extended(${writtenBy(row)}, ${number}::pg_catalog.int8)`

export const allRelations = `c.relkind in ('r', 'p', 'v', 'm', 'f') and c.relpersistence <> 't'`

/** Objects below this OID were made with the cluster and keep their columns (FirstNormalObjectId). */
export const firstNormalOid = `'16384'`

/** The recorded objects (extent.ts), as an array: for few of them, indexes are used. */
export const touched = 'any (array(select oid from touched))'

/**
 * The part of a long list with the rows about this relation: about some hundred relations that were created one after
 * the other. Parts are read one by one (catalog-rows.ts); within each a list has its order.
 */
export const sliceOf = (relation: string): string => `${relation}::pg_catalog.int8 / '1024'`

/** Whether the relation `c` of pg_class is in a served schema. */
export const isServed = 'c.relnamespace in (select oid from served)'

/**
 * How much of the database a statement reads: everything, compared with the known state, or the changes recorded since
 * (compiler/following/prepare/counting.ts). A complete comparison takes time in proportion to the catalogue.
 */
export type Extent = 'whole' | 'recorded'

/** Whether the answer has a hash for each relation, by which a later complete read leaves it out. */
export type Hashes = 'made' | 'left out'

/** The texts in which the two differ. */
export type ByExtent = Readonly<Record<Extent, string>>

export const SERVED = `served as materialized (
  select n.oid, n.nspname, asked.place, ${aclOf('n.nspacl', 'n', 'n.nspowner')} as acl
  from pg_catalog.pg_namespace n
  join (select name, pg_catalog.min(place) as place
    from pg_catalog.unnest($1::pg_catalog.text[]) with ordinality a(name, place) group by name) asked
    on n.nspname = asked.name
)`

/**
 * The known state: the relations and functions with their hashes, and types. A read of recorded changes compares
 * nothing, so these are the relations that are not served and the functions with defaults, which are always read.
 */
export const KNOWN: ByExtent = {
  whole: `known as materialized (
  select *
  from rows from (pg_catalog.unnest($2::pg_catalog.oid[]), pg_catalog.unnest($3::pg_catalog.int8[])) k(oid, hash)
), known_routines as materialized (
  select *
  from rows from (pg_catalog.unnest($4::pg_catalog.oid[]), pg_catalog.unnest($5::pg_catalog.int8[])) k(oid, hash)
), known_types as materialized (
  select oid from pg_catalog.unnest($6::pg_catalog.oid[]) k(oid)
)`,
  recorded: `known as materialized (
  select oid, null::pg_catalog.int8 as hash from pg_catalog.unnest($2::pg_catalog.oid[]) k(oid)
), known_routines as materialized (
  select oid, null::pg_catalog.int8 as hash from pg_catalog.unnest($3::pg_catalog.oid[]) k(oid)
), known_types as materialized (
  select oid from pg_catalog.unnest($4::pg_catalog.oid[]) k(oid)
)`,
}

/**
 * The changes recorded since a snapshot, in which the counter had the value `before`. Each counted change is recorded,
 * so the record is complete if its steps add up to the growth of the counter; entries are overwritten and pruned, and
 * older versions of the event triggers wrote none. Entries of future transactions were restored from another server.
 */
export const recordSince = (counter: string, snapshot: string, before: string): string => `recorded as materialized (
  select r.objects, r.granted, r.unnamed, r.step from catalograph.schema_record r
  where not pg_catalog.pg_visible_in_snapshot(r.xid, ${snapshot}::pg_catalog.pg_snapshot)
    and r.xid < pg_catalog.pg_snapshot_xmax(pg_catalog.pg_current_snapshot())
), record as materialized (
  select coalesce(coalesce(pg_catalog.sum(step), '0')::pg_catalog.int8 = (${counter})::pg_catalog.int8 - ${before}::pg_catalog.int8
    and pg_catalog.bool_and(objects is not null) is not false, false) as everything,
    pg_catalog.bool_or(granted) as granted, pg_catalog.bool_or(unnamed) as unnamed
  from recorded
)`

/** Rows written since then: by a transaction that is not older than the oldest running one. */
const writtenSince = (row: string): string => `pg_catalog.age(${row}.xmin)
      <= (select pg_catalog.age(pg_catalog.pg_snapshot_xmin($5::pg_catalog.pg_snapshot)::pg_catalog.xid))`

/**
 * Whether relations were written since whose owner REASSIGN OWNED may have changed, which has no event: it gives all
 * objects of an owner to another, so it has written each of the relations in $8 of the owner in $9.
 */
const reassigned = `(select coalesce(pg_catalog.bool_or(whole), false) from (
    select pg_catalog.bool_and(c.oid is null or ${writtenSince('c')}) as whole
    from rows from (pg_catalog.unnest($8::pg_catalog.oid[]), pg_catalog.unnest($9::pg_catalog.text[])) w(oid, owner)
    left join pg_catalog.pg_class c on c.oid = w.oid group by w.owner) owners)`

/**
 * Recorded objects, relations that must be read again, and functions whose own rows were written since. The event of a
 * GRANT does not name the object: relations are then searched by their rows, and if columns may have been named, these
 * too. Of an unchanged row only the header is read; indexes and the like are found too, but are not in `places`. There
 * are few functions beside the thousands of relations, so these are always searched, except our own, which triggers of live relations
 * make. The result passes through an
 * array, for which the planner expects few rows: else it would consider the statement expensive, and compile it (JIT).
 */
export const TOUCHED = `touched as materialized (
  select pg_catalog.unnest(objects) as oid from recorded
  union select pg_catalog.unnest($7::pg_catalog.oid[])
  union select pg_catalog.unnest(array(select c.oid from pg_catalog.pg_class c
  where ((select unnamed from record) or ${reassigned}) and c.oid >= ${firstNormalOid} and ${writtenSince('c')}))
  union select p.oid from pg_catalog.pg_proc p
  where p.oid >= ${firstNormalOid} and p.pronamespace <> 'catalograph'::pg_catalog.regnamespace and ${writtenSince('p')}
  union select pg_catalog.unnest(array(select a.attrelid from pg_catalog.pg_attribute a
  where (select granted from record) and a.attrelid >= ${firstNormalOid} and a.attnum > '0' and ${writtenSince('a')}))
)`

/** Known objects that are gone; for recorded changes also unknown ones. */
export const GONE_LIST: ByExtent = {
  whole: `select 'relation' as kind, oid from known where oid not in (select oid from places)
  union all select 'function', oid from known_routines where oid not in (select oid from own_routines)`,
  recorded: `select 'relation' as kind, oid from touched where oid not in (select oid from places)
  union all select 'function', oid from touched where oid not in (select oid from own_routines)`,
}

/** Objects that may have changed; empty for a complete comparison. */
export const TOUCHED_LIST: ByExtent = {
  whole: 'select null::pg_catalog.oid as oid where false',
  recorded: 'select oid from touched',
}
