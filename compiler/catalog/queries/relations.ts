import {
  type ByExtent,
  type Hashes,
  aclKey,
  aclOf,
  allRelations,
  classOf,
  commentOf,
  rowHash,
  sliceOf,
  touched,
  writtenBy,
} from './extent.ts'

/** Served relations: all, or the changed ones. */
export const OWNED: ByExtent = {
  whole: `owned as materialized (
  select c.oid, n.nspname, ${writtenBy('c')} as written
  from pg_catalog.pg_class c join served n on n.oid = c.relnamespace where ${allRelations}
)`,
  recorded: `owned as materialized (
  select c.oid, n.nspname, ${writtenBy('c')} as written
  from pg_catalog.pg_class c join served n on n.oid = c.relnamespace where c.oid = ${touched} and ${allRelations}
)`,
}

const places = (referred: string): string => `places as materialized (
  select oid, nspname, written, true as served from owned
  union all
  select c.oid, n.nspname, ${writtenBy('c')}, false
  from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  where c.oid = any (array(${referred}))
    and n.oid not in (select oid from served)
)`

/**
 * And relations that are not served but referenced by foreign keys, whose names are needed: all, or the changed ones
 * and those that a changed one references.
 */
export const PLACES: ByExtent = {
  whole: places(`select k.confrelid from pg_catalog.pg_constraint k
    where k.contype = 'f' and k.conrelid in (select oid from owned) and k.confrelid not in (select oid from owned)`),
  recorded: places(`select k.confrelid from pg_catalog.pg_constraint k
    where k.contype = 'f' and k.conrelid = ${touched} and k.conrelid in (select oid from owned)
    union select oid from known where oid in (select oid from touched)`),
}

/** As an array: for few of them, indexes are used. */
const placed = 'any (array(select oid from places))'

/** Columns with a NOT NULL that is not validated yet (since 18), which guarantees nothing about existing rows. */
const unproven = (relations: string): string => `select k.conrelid, k.conkey[1] from pg_catalog.pg_constraint k
    where k.conrelid = ${relations} and k.contype = 'n' and not k.convalidated`

/**
 * Columns that are NOT NULL, of tables with direct or indirect children, of which one may contain a null: a query
 * includes its rows. Partitions may contain none if the parent may not.
 */
export const LOOSE = `heirs as (
  select c.oid as ancestor, i.inhrelid as heir
  from pg_catalog.pg_class c join pg_catalog.pg_inherits i on i.inhparent = c.oid
  where c.oid = ${placed} and c.relkind in ('r', 'f') and c.relhassubclass
  union select h.ancestor, i.inhrelid from heirs h join pg_catalog.pg_inherits i on i.inhparent = h.heir
), loose as materialized (
  select distinct own.attrelid as relation, own.attnum as number
  from heirs h join pg_catalog.pg_attribute a on a.attrelid = h.heir
  join pg_catalog.pg_attribute own on own.attrelid = h.ancestor and own.attname = a.attname and own.attnotnull
  where a.attnum > '0' and not a.attisdropped
    and (not a.attnotnull or (a.attrelid, a.attnum) in (${unproven('any (array(select heir from heirs))')}))
)`

/**
 * A relation's hash: all rows of the catalogues that describe it (of constraints, foreign keys and NOT NULL that is not
 * valid; pg_index describes the other relevant ones), and the differences of its children. Facts about other objects
 * are excluded: names of roles, types and foreign relations (see known.ts). In pg_depend, deptype a: a sequence that a
 * column owns.
 */
const hashes = `hashes as materialized (
  select part.oid, pg_catalog.bit_xor(part.hash) as hash from (
    select p.oid, pg_catalog.hashtextextended(p.nspname::pg_catalog.text, p.written) as hash from places p
    union all select a.attrelid, ${rowHash('a', `a.attnum + '1000'`)}
      from pg_catalog.pg_attribute a where a.attnum > '0' and a.attrelid = ${placed}
    union all select i.indrelid, ${rowHash('i', `i.indexrelid::pg_catalog.int8 * '8' + '1'`)}
      from pg_catalog.pg_index i where i.indrelid = ${placed}
    union all select i.indrelid, pg_catalog.hashtextextended(case when i.indpred is null and i.indexprs is null
        then u.relname::pg_catalog.text
        else case path.value when '' then pg_catalog.pg_get_indexdef(i.indexrelid) end end, i.indexrelid::pg_catalog.int8)
      from pg_catalog.pg_index i join pg_catalog.pg_class u on u.oid = i.indexrelid cross join path
      where i.indisunique and i.indrelid = ${placed}
    union all select k.conrelid, ${rowHash('k', `k.oid::pg_catalog.int8 * '8' + '2'`)}
      from pg_catalog.pg_constraint k where k.conrelid = ${placed}
        and (k.contype = 'f' or k.contype = 'n' and not k.convalidated)
    union all select d.objoid, ${rowHash('d', `d.objsubid::pg_catalog.int8 * '8' + '3'`)}
      from pg_catalog.pg_description d
      where d.classoid = ${classOf('pg_class')} and d.objoid = ${placed}
    union all select k.conrelid, ${rowHash('d', `k.oid::pg_catalog.int8 * '8' + '4'`)}
      from pg_catalog.pg_constraint k
      cross join lateral (select one.xmin from pg_catalog.pg_description one
        where one.classoid = ${classOf('pg_constraint')} and one.objoid = k.oid offset '0') d
      where k.conrelid = ${placed}
    union all select o.refobjid, ${rowHash('o', `o.objid::pg_catalog.int8 * '8' + '5'`)}
      from pg_catalog.pg_depend o where o.classid = ${classOf('pg_class')} and o.refclassid = o.classid
        and o.deptype = 'a' and o.refobjid = ${placed}
    union all select l.relation, pg_catalog.hashint8extended(l.number::pg_catalog.int8, '6') from loose l
  ) part group by part.oid
)`

/** Computing them takes a quarter of a complete read, so they are left out if they are not compared. */
export const HASHES: Readonly<Record<Hashes, string>> = {
  made: hashes,
  'left out': 'hashes as materialized (select oid, null::pg_catalog.int8 as hash from places)',
}

export const RELATIONS = `relations as materialized (
  select c.oid, p.nspname, p.served, p.written, hashes.hash, c.relname, c.relkind, c.relowner, c.relrowsecurity, c.reltype,
    c.relhassubclass,
    ${aclOf('c.relacl', 'r', 'c.relowner')} as acl
  from hashes join places p on p.oid = hashes.oid join pg_catalog.pg_class c on c.oid = hashes.oid
  left join known on known.oid = hashes.oid
  where (known.oid is null or hashes.hash is distinct from known.hash) and c.oid = any (array(select oid from hashes))
)`

/** The relations of the answer, as an array: for few of them, indexes are used. */
const asked = 'any (array(select oid from relations))'

/**
 * The served ones among them. Again as an array, and never as a join: expecting one relation, the planner would scan an
 * array of thousands for each of thousands.
 */
const askedServed = 'any (array(select oid from relations where served))'

/** Columns of the relations and of the targets of their foreign keys. */
export const ATTRIBUTES = `attributes as materialized (
  select a.attrelid, a.attnum, a.attname, a.atttypid, a.atttypmod, a.attnotnull, a.attgenerated, a.attidentity,
    a.atthasdef, a.attacl, a.attcollation
  from pg_catalog.pg_attribute a
  where a.attrelid = any (array(select oid from relations union select k.confrelid
      from pg_catalog.pg_constraint k where k.conrelid = ${asked} and k.contype = 'f'))
    and a.attnum > '0' and not a.attisdropped
)`

export const RELATION_LIST = `select r.oid, r.hash::pg_catalog.text as hash, r.served, r.nspname as schema,
    r.relname as name, r.relkind as kind,
    owner.rolname as owner, d.description as comment, r.relrowsecurity as "rowSecurity",
    r.reltype as "rowType", r.relhassubclass and r.relkind in ('r', 'f') as inherited, ${aclKey('r.acl')} as acl, ${sliceOf('r.oid')} as slice
  from relations r join pg_catalog.pg_roles owner on owner.oid = r.relowner
  ${commentOf('d', 'pg_class', 'r.oid')} order by slice, r.nspname, r.relname`

/** Sequences that columns own. */
export const SEQUENCES = `sequences as materialized (
  select o.objid as sequence, o.refobjid as relation, o.refobjsubid as number
  from pg_catalog.pg_depend o join pg_catalog.pg_class sequence on sequence.oid = o.objid
  where o.classid = ${classOf('pg_class')} and o.refclassid = o.classid
    and o.refobjid = ${asked} and o.deptype = 'a' and sequence.relkind = 'S'
)`

export const SEQUENCE_LIST = `select s.relation, s.sequence, ${sliceOf('s.relation')} as slice
  from sequences s order by slice, s.relation, s.sequence`

const COMMENTED = `select d.objoid from pg_catalog.pg_description d
    where d.classoid = ${classOf('pg_class')} and d.objsubid > '0' and d.objoid = ${asked}`

/** The collation of a column; null for the database's default, and for a type without one. */
const COLLATION = `case when a.attcollation not in ('0', '100') then (
      select pg_catalog.format('%I.%I', n.nspname, l.collname)
      from pg_catalog.pg_collation l join pg_catalog.pg_namespace n on n.oid = l.collnamespace
      where l.oid = a.attcollation) end`

/** Lookups instead of joins: for few columns, the planner would scan such a list for each of them. */
export const COLUMN_LIST = `select a.attrelid as relation, a.attname as name, a.attnum as number,
    a.atttypid as type, a.atttypmod as modifier, ${COLLATION} as collation,
    a.attnotnull and (a.attrelid, a.attnum) not in (${unproven(asked)})
      and (a.attrelid, a.attnum) not in (select relation, number from loose) as "notNull",
    a.attgenerated <> '' as generated, a.attidentity <> '' as identity,
    (a.attrelid, a.attnum::pg_catalog.int4) in (select relation, number from sequences) as serial,
    a.atthasdef as "hasDefault",
    case when a.attrelid in (${COMMENTED}) then (select d.description from pg_catalog.pg_description d
      where d.objoid = a.attrelid and d.classoid = ${classOf('pg_class')} and d.objsubid = a.attnum) end as comment,
    ${aclKey('a.attacl')} as acl, ${sliceOf('a.attrelid')} as slice
  from attributes a`

/**
 * Whether tables inherit from this one, so that a query includes their rows, for which its keys do not hold. It stays
 * true for a while after they are gone. Partitions are different: their table's keys hold for all of them.
 */
const INHERITED = `(t.relhassubclass and t.relkind = 'r')`

/**
 * Whether values that differ in an index also differ by `=`: it has the operators of its columns' types and, if some
 * collation is not deterministic, the columns' own collations. Checking those takes as long as the rest of an index.
 */
const COMPARES_EXACTLY = `(not i.indclass::pg_catalog.oid[] operator(pg_catalog.&&)
        array(select o.oid from pg_catalog.pg_opclass o where not o.opcdefault)
      and ((select pg_catalog.bool_and(l.collisdeterministic) from pg_catalog.pg_collation l) or not exists (
        select from rows from (pg_catalog.unnest(i.indkey::pg_catalog.int2[]),
          pg_catalog.unnest(i.indcollation::pg_catalog.oid[])) part(number, compares)
        join pg_catalog.pg_attribute a on a.attrelid = i.indrelid and a.attnum = part.number
        where a.attcollation <> part.compares)))`

/**
 * Unique keys as column numbers (indkey counts from 0; 0 is an expression), without INCLUDE columns; invalid ones are
 * left out. `arbiter`: ON CONFLICT can name it, in contrast to deferrable and temporal keys (since 18, which are
 * exclusion indexes). Expressions and the condition of a partial one are printed, like defaults. An index without a
 * constraint may compare differently from `=`.
 */
export const UNIQUE_LIST = `select i.indrelid as relation, u.relname as name, i.indisprimary as primary,
    i.indimmediate and not i.indisexclusion as arbiter,
    not ${INHERITED} and (i.indisprimary or ${COMPARES_EXACTLY}) as identifying,
    (i.indkey::pg_catalog.int2[])[0:i.indnkeyatts - 1] as numbers,
    case when i.indexprs is not null then case path.value when '' then array(
      select pg_catalog.pg_get_indexdef(i.indexrelid, part.number, false)
      from pg_catalog.generate_series(1, i.indnkeyatts::pg_catalog.int4) part(number) order by part.number) end end as parts,
    case path.value when '' then pg_catalog.pg_get_expr(i.indpred, i.indrelid) end as predicate,
    ${sliceOf('i.indrelid')} as slice
  from pg_catalog.pg_index i join pg_catalog.pg_class u on u.oid = i.indexrelid
  join pg_catalog.pg_class t on t.oid = i.indrelid cross join path
  where i.indrelid = ${askedServed} and i.indisunique and i.indisvalid and i.indisready order by slice, u.relname`

/**
 * `guaranteed`: false if the constraint is not validated or not enforced, or is the clone for a single partition of the
 * referenced table, or if tables inherit from the relation, whose rows it does not check. Keys over periods (since 18)
 * are left out: they are not equality joins.
 */
export const FOREIGN_KEY_LIST = `select c.oid, c.conname as name, c.conrelid as relation, c.conkey as numbers,
    c.confrelid as "foreignOid", n.nspname as "foreignSchema", f.relname as "foreignRelation",
    c.confkey as "foreignNumbers",
    c.convalidated and (whole.oid is null or whole.confrelid = c.confrelid) and not ${INHERITED} as guaranteed,
    (select d.description from pg_catalog.pg_description d
      where d.objoid = c.oid and d.classoid = ${classOf('pg_constraint')} and d.objsubid = '0') as comment,
    ${sliceOf('c.conrelid')} as slice
  from (select false as conperiod) before_18
  cross join lateral (select k.*, conperiod as temporal from pg_catalog.pg_constraint k
    where k.conrelid = ${askedServed} and k.contype = 'f') c
  join pg_catalog.pg_class t on t.oid = c.conrelid
  join pg_catalog.pg_class f on f.oid = c.confrelid
  join pg_catalog.pg_namespace n on n.oid = f.relnamespace
  left join pg_catalog.pg_constraint whole on whole.oid = c.conparentid
  where not c.temporal order by slice, c.oid`
