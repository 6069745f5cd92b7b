import { type ByExtent, aclKey, aclOf, commentOf, isArray, touched } from './extent.ts'

/**
 * The closure of the types that known and new objects mention: an array mentions its element, a domain its base type, a
 * composite type without a relation the types of its attributes. Types are few and always read. The seeds are picked
 * from pg_type by an array so that the planner expects few of them: at its default guess for recursion it would
 * consider the statement expensive and compile it (JIT), which takes seconds. Each type is looked up separately (offset
 * '0'): each table of a database has two, and most are not needed.
 */
const mentioned = (enums: string): string => `mentioned(oid) as (
  select oid from pg_catalog.pg_type where oid = any (array(
    select oid from known_types
    union select atttypid from attributes
    union select prorettype from routines
    union select pg_catalog.unnest(types) from routines
    union select t.oid from pg_catalog.pg_type t join pg_catalog.pg_namespace n on n.oid = t.typnamespace
      where ${enums} and t.typtype = 'e' and n.nspname <> 'information_schema'
        and not pg_catalog.starts_with(n.nspname, 'pg_')
    union select oid from pg_catalog.pg_type where typname = 'gtrgm' and typtype = 'b'
  ))
  union
  select further.oid from mentioned m
  cross join lateral (select * from pg_catalog.pg_type one where one.oid = m.oid offset '0') t
  cross join lateral (
    select case when ${isArray('t')} then t.typelem else t.typbasetype end
    union all select a.atttypid from pg_catalog.pg_class c join pg_catalog.pg_attribute a on a.attrelid = c.oid
    where c.oid = t.typrelid and c.relkind = 'c' and a.attnum > '0' and not a.attisdropped
  ) further(oid)
  where further.oid <> '0'
)`

/** All enums are mentioned, served or not: columns may have them. The type of pg_trgm shows its presence and schema. */
export const MENTIONED: ByExtent = { whole: mentioned('true'), recorded: mentioned(`t.oid = ${touched}`) }

/** An array has the privileges of its element, since 17 a multirange those of its range (Postgres' aclchk.c). */
export const TYPES = `types as materialized (
  select t.oid, n.nspname, t.typname, t.typtype, t.typdelim, t.typbasetype, t.typtypmod,
    t.typdefault is not null as hasdefault, t.typrelid, e.oid as element,
    t.typelem <> '0' and e.oid is null and t.typsubscript::pg_catalog.oid
      = 'pg_catalog.array_subscript_handler'::pg_catalog.regproc::pg_catalog.oid as vector,
    case when v.oid is not null then ${aclOf('v.typacl', 'T', 'v.typowner')}
      when e.oid is not null then ${aclOf('e.typacl', 'T', 'e.typowner')}
      else ${aclOf('t.typacl', 'T', 't.typowner')} end as acl
  from pg_catalog.pg_type t
  join pg_catalog.pg_namespace n on n.oid = t.typnamespace
  left join pg_catalog.pg_type e on e.oid = t.typelem and ${isArray('t')}
  left join pg_catalog.pg_range r on r.rngmultitypid = coalesce(e.oid, t.oid)
    and pg_catalog.current_setting('server_version_num')::pg_catalog.int4 >= 170000
  left join pg_catalog.pg_type v on v.oid = r.rngtypid
  where t.oid = any (array(select oid from mentioned))
)`

/**
 * By type: the operators of its default btree class, by strategy (`<`, `<=`, `=`, `>=`, `>`), with their schemas
 * (PostgreSQL manual 38.16). A type without a class uses that of a binary-coercible type, as varchar uses text; among
 * several Postgres takes the preferred one. A vector (int2vector) is ordered like an array.
 */
export const ORDERS = `ordered_as as materialized (
  select distinct on (t.oid) t.oid, c.opcfamily, c.opcintype
  from types t
  cross join lateral (
    select t.oid as source
    union all select k.casttarget from pg_catalog.pg_cast k
      where k.castsource = t.oid and k.castmethod = 'b' and k.castcontext = 'i'
    union all select 'pg_catalog.anyarray'::pg_catalog.regtype::pg_catalog.oid where t.vector
  ) alike
  join pg_catalog.pg_opclass c on c.opcintype = alike.source and c.opcdefault
  join pg_catalog.pg_am a on a.oid = c.opcmethod and a.amname = 'btree'
  join pg_catalog.pg_type as_type on as_type.oid = c.opcintype
  where t.typtype = 'b'
  order by t.oid, c.opcintype = t.oid desc, as_type.typispreferred desc, c.opcintype
), orders as materialized (
  select t.oid, pg_catalog.array_agg(n.nspname::pg_catalog.text order by m.amopstrategy) as schemas,
    pg_catalog.array_agg(o.oprname::pg_catalog.text order by m.amopstrategy) as names
  from ordered_as t
  join pg_catalog.pg_amop m on m.amopfamily = t.opcfamily and m.amoplefttype = t.opcintype
    and m.amoprighttype = t.opcintype and m.amoppurpose = 's'
  join pg_catalog.pg_operator o on o.oid = m.amopopr
  join pg_catalog.pg_namespace n on n.oid = o.oprnamespace
  group by t.oid
)`

/** By type: the operators of LIKE and of regular expressions that an extension defines for it (citext). */
export const PATTERNS = `patterns as materialized (
  select o.oprleft as oid, pg_catalog.array_agg(n.nspname::pg_catalog.text order by o.oprname) as schemas,
    pg_catalog.array_agg(o.oprname::pg_catalog.text order by o.oprname) as names
  from pg_catalog.pg_operator o
  join pg_catalog.pg_namespace n on n.oid = o.oprnamespace and n.nspname <> 'pg_catalog'
  where o.oprname = any (array['~~', '~~*', '~', '~*']::pg_catalog.name[]) and o.oprleft = o.oprright
    and o.oprresult = 'pg_catalog.bool'::pg_catalog.regtype::pg_catalog.oid
  group by o.oprleft having pg_catalog.count(distinct o.oprname) = '4' and pg_catalog.count(*) = '4'
)`

/** The schemas of the types, except those that every role may use in every database. */
export const HOMES = `homes as materialized (
  select n.nspname, ${aclOf('n.nspacl', 'n', 'n.nspowner')} as acl
  from pg_catalog.pg_namespace n
  where n.nspname in (select nspname from types) and n.oid not in (select oid from served)
    and n.nspname <> 'information_schema' and not pg_catalog.starts_with(n.nspname, 'pg_')
)`

/**
 * Names of types from format_type; distinct pairs of type and modifier.
 * @param others SQL of further pairs
 */
export const typeTexts = (others: string): string => `select named.oid as type, named.modifier,
    case path.value when '' then nullif(pg_catalog.format_type(named.oid, named.modifier), '???') end as text
  from (select atttypid as oid, atttypmod as modifier from attributes union ${others}) named
  cross join path`

export const TYPE_TEXTS = typeTexts('select oid, -1 from types')

export const TYPE_SCHEMA_LIST = `select h.nspname as name, ${aclKey('h.acl')} as acl from homes h order by h.nspname`

export const TYPE_LIST = `select t.oid, t.nspname as schema, t.typname as name, t.typtype as kind, t.element,
    t.typdelim as delimiter, nullif(t.typbasetype, '0') as base, t.typtypmod as modifier,
    t.hasdefault as "hasDefault", c.oid as "relationOid",
    cn.nspname as "relationSchema", c.relname as "relationName", c.relkind = 'c' as "standAlone",
    case c.relkind when 'c' then array(select a.attname from pg_catalog.pg_attribute a
      where a.attrelid = c.oid and a.attnum > '0' and not a.attisdropped order by a.attnum) end as attributes,
    case c.relkind when 'c' then array(select a.atttypid from pg_catalog.pg_attribute a
      where a.attrelid = c.oid and a.attnum > '0' and not a.attisdropped order by a.attnum) end as "attributeTypes",
    case c.relkind when 'c' then array(select a.atttypmod from pg_catalog.pg_attribute a
      where a.attrelid = c.oid and a.attnum > '0' and not a.attisdropped order by a.attnum) end as "attributeModifiers",
    coalesce(labels.list, '[]') as labels, orders.schemas as "orderSchemas", orders.names as "orderNames",
    patterns.schemas as "patternSchemas", patterns.names as "patternNames",
    d.description as comment,
    ${aclKey('t.acl')} as acl
  from types t
  left join orders on orders.oid = t.oid
  left join patterns on patterns.oid = t.oid
  left join pg_catalog.pg_class c on c.oid = t.typrelid
  left join pg_catalog.pg_namespace cn on cn.oid = c.relnamespace
  left join (select enumtypid, pg_catalog.json_agg(enumlabel order by enumsortorder) as list
    from pg_catalog.pg_enum group by enumtypid) labels on labels.enumtypid = t.oid
  ${commentOf('d', 'pg_type', 't.oid')} order by t.nspname, t.typname`
