import { claimReaders } from './claim-readers.ts'
import type { ByExtent } from './extent.ts'
import { leftoversOf } from './leftovers.ts'
import { allRelations, classOf, firstNormalOid, isServed, touched } from './text.ts'

/**
 * Comments with settings on objects without settings: indexes, sequences, attributes of composite types, constraints
 * other than foreign keys, triggers, policies, and types that are not enums and not mentioned by served objects. An
 * argument waits for the empty search path, so that all names are qualified.
 */
export const STRAY_LIST = `select i.type as kind, i.identity as name, d.description as comment
  from pg_catalog.pg_description d cross join path
  cross join lateral (
    select c.relnamespace as schema from pg_catalog.pg_class c
      where d.classoid = ${classOf('pg_class')} and c.oid = d.objoid
        and (c.relkind in ('i', 'I', 'S') or c.relkind = 'c' and d.objsubid > '0')
    union all select k.connamespace from pg_catalog.pg_constraint k
      where d.classoid = ${classOf('pg_constraint')} and k.oid = d.objoid and k.contype <> 'f'
    union all select c.relnamespace from pg_catalog.pg_trigger t join pg_catalog.pg_class c on c.oid = t.tgrelid
      where d.classoid = ${classOf('pg_trigger')} and t.oid = d.objoid
    union all select c.relnamespace from pg_catalog.pg_policy p join pg_catalog.pg_class c on c.oid = p.polrelid
      where d.classoid = ${classOf('pg_policy')} and p.oid = d.objoid
    union all select t.typnamespace from pg_catalog.pg_type t
      where d.classoid = ${classOf('pg_type')} and t.oid = d.objoid and t.typtype <> 'e' and t.oid not in (select oid from types)
  ) home
  join served s on s.oid = home.schema
  cross join lateral pg_catalog.pg_identify_object(d.classoid, d.objoid, case path.value when '' then d.objsubid end) i
  where d.objoid >= ${firstNormalOid} and pg_catalog.strpos(d.description, '@graphql(') > '0'
  order by i.identity collate pg_catalog."C", i.type collate pg_catalog."C"`

/**
 * Members of extensions among the served objects. They are not part of an object's hash: ALTER EXTENSION does not
 * change the object.
 */
export const MEMBER_LIST = `select case d.classid when ${classOf('pg_proc')} then 'function' else 'relation' end as kind, d.objid as oid, e.extname as extension
  from pg_catalog.pg_depend d join pg_catalog.pg_extension e on e.oid = d.refobjid
  where d.refclassid = ${classOf('pg_extension')} and d.deptype = 'e'
    and (d.classid = ${classOf('pg_proc')} and exists (select from pg_catalog.pg_proc p
        where p.oid = d.objid and p.pronamespace in (select oid from served))
      or d.classid = ${classOf('pg_class')} and exists (select from pg_catalog.pg_class c
        where c.oid = d.objid and ${isServed} and ${allRelations}))
  order by d.classid, d.objid`

/**
 * Tables with a trigger for each row before its insertion (tgtype: 1 row, 2 before, 4 insert; PostgreSQL's
 * pg_trigger.h). They are not part of the table's hash, because a trigger does not change the table.
 */
const filled = (among: string): string => `select distinct t.tgrelid as relation from pg_catalog.pg_trigger t
  where t.tgtype & '7' = '7' and not t.tgisinternal and t.tgrelid in (select oid from owned)${among} order by t.tgrelid`

export const FILLED_LIST: ByExtent = { whole: filled(''), recorded: filled(` and t.tgrelid = ${touched}`) }

const needy = (among: string | null): string => `select 'claims' as kind, oid from (${claimReaders(among)}) readers
  union all ${leftoversOf(among)}`

/** Objects for which requests need settings, or a cleanup. */
export const NEEDY_LIST: ByExtent = { whole: needy(null), recorded: needy(touched) }
