import { askedServed } from './relations.ts'
import { classOf, sliceOf } from './text.ts'

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
