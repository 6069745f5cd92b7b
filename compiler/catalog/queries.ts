/**
 * The one statement that reads a database (PostgreSQL manual, chapter "System Catalogs"): one statement, one snapshot.
 *
 * The caller sends the relations and functions that it knows, each with its hash; the answer leaves out those whose
 * hash is still the same. A caller that knows none gets all of them, by the same statement. Hashes of relations are
 * costly where there are many columns, so where the database recorded what changed (compiler/prepare/counting.ts), only
 * those are compared.
 *
 * It returns a single row with a single text column `catalog`: a JSON object of flat lists, one per kind of fact (see
 * rows.ts), which lists.ts checks and decode.ts joins. It works on PostgreSQL 14 to 18; a column that only some
 * versions have is named without a table inside a lateral sub-select, so that where it is missing the name means the
 * constant beside it.
 *
 * A role that may create objects in a schema of the search path could offer a closer match for a function or an
 * operator of this statement. Therefore every relation and function is qualified, and every operator has operands for
 * which pg_catalog holds an exact match: constants are quoted (`'0'`) where they must take the type of a column.
 */

import { CLAIM_READERS } from './claim-readers.ts'
import { LEFTOVERS } from './leftovers.ts'
import { ROWS, type ListName } from './rows.ts'

/** Grants of an object: its ACL, or what its absence stands for. Letters: PostgreSQL manual, function acldefault. */
const aclOf = (acl: string, letter: 'r' | 'n' | 'f' | 'T', owner: string): string =>
  `coalesce(${acl}, pg_catalog.acldefault('${letter}', ${owner}))`

const classOf = (catalog: string): string => `'pg_catalog.${catalog}'::pg_catalog.regclass::pg_catalog.oid`

/** The comment on an object; `number` is the column's, 0 for the object itself. */
const commentOf = (alias: string, catalog: string, oid: string, number = '0'): string =>
  `left join pg_catalog.pg_description ${alias} on ${alias}.objoid = ${oid}
    and ${alias}.classoid = ${classOf(catalog)} and ${alias}.objsubid = ${number}`

/** A list as JSON: one array per field of ROWS, in the order of the query. */
const listOf = (name: ListName, query: string): string =>
  `(select pg_catalog.json_build_object(${Object.keys(ROWS[name])
    .map((field) => `'${field}', coalesce(pg_catalog.json_agg(x."${field}"), '[]')`)
    .join(', ')}) from (${query}) x)`

/** The rule of format_type and get_element_type: int2vector and oidvector are no arrays, neither is name. */
const isArray = (alias: string): string =>
  `${alias}.typelem <> '0' and ${alias}.typstorage <> 'p'
    and ${alias}.typsubscript::pg_catalog.oid
      = 'pg_catalog.array_subscript_handler'::pg_catalog.regproc::pg_catalog.oid`

/**
 * Sets an empty search path for the rest of the transaction. What prints names (format_type, pg_get_expr) stands behind
 * `case path.value when ''`, so it cannot run before.
 */
const PATH = `path as materialized (select pg_catalog.set_config('search_path', '', true) as value)`

const SERVED = `served as materialized (
  select n.oid, n.nspname, asked.place, ${aclOf('n.nspacl', 'n', 'n.nspowner')} as acl
  from pg_catalog.pg_namespace n
  join (select name, pg_catalog.min(place) as place
    from pg_catalog.unnest($1::pg_catalog.text[]) with ordinality a(name, place) group by name) asked
    on n.nspname = asked.name
)`

/** What the asker knows. */
const KNOWN = `known as materialized (
  select *
  from rows from (pg_catalog.unnest($2::pg_catalog.oid[]), pg_catalog.unnest($3::pg_catalog.int8[]),
    pg_catalog.unnest($4::pg_catalog.int8[])) k(oid, hash, written)
), known_routines as materialized (
  select *
  from rows from (pg_catalog.unnest($5::pg_catalog.oid[]), pg_catalog.unnest($6::pg_catalog.int8[])) k(oid, hash)
)`

/**
 * The transaction that wrote the row, as an int8: a changed row, or one that was deleted and inserted again, has
 * another one. `age` counts from the same transaction within a statement, so the difference stays the same from one
 * statement to the next.
 */
const writtenBy = (row: string): string =>
  `pg_catalog.age('3'::pg_catalog.xid)::pg_catalog.int8 - pg_catalog.age(${row}.xmin)::pg_catalog.int8`

/** Hash of a catalogue row; `number` distinguishes it from the other rows of its object. */
const hashOf = (row: string, number: string): string =>
  `pg_catalog.hashint8extended(${writtenBy(row)}, ${number}::pg_catalog.int8)`

const allRelations = `c.relkind in ('r', 'p', 'v', 'm', 'f') and c.relpersistence <> 't'`

const OWNED = `owned as materialized (
  select c.oid, n.nspname, ${writtenBy('c')} as written
  from pg_catalog.pg_class c join served n on n.oid = c.relnamespace where ${allRelations}
)`

/**
 * Served relations, and relations that are not served but referenced by foreign keys, whose names are needed. Where the
 * database recorded what changed, the latter are the known ones and those that the changed relations reference.
 */
const PLACES = `referred as materialized (
  select k.confrelid as oid from pg_catalog.pg_constraint k
  where (select everything from told) is not true and k.contype = 'f'
    and k.conrelid in (select oid from owned) and k.confrelid not in (select oid from owned)
  union all select k.confrelid from pg_catalog.pg_constraint k
  where k.conrelid = any (array(select oid from touched)) and k.contype = 'f'
    and k.conrelid in (select oid from owned) and k.confrelid not in (select oid from owned)
  union all select oid from known where (select everything from told) and oid not in (select oid from owned)
), places as materialized (
  select oid, nspname, written, true as served from owned
  union all
  select c.oid, n.nspname, ${writtenBy('c')}, false
  from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  where c.oid = any (array(select oid from referred))
)`

/** Objects below this OID were made with the cluster and keep their columns (FirstNormalObjectId). */
const firstNormalOid = `'16384'`

/**
 * What was recorded since the snapshot $8, at which the counter stood at $9 (both null: everything is asked). Each change
 * that counts is recorded, so the records are complete when there are as many as the counter grew by; they are
 * overwritten and pruned, and older versions of the event triggers wrote none. Those of transactions to come were
 * restored from another server.
 */
const recordedSince = (counter: string): string => `recorded as materialized (
  select r.relations, r.granted from catalograph.schema_change r
  where not pg_catalog.pg_visible_in_snapshot(r.xid, $8::pg_catalog.pg_snapshot)
    and r.xid < pg_catalog.pg_snapshot_xmax(pg_catalog.pg_current_snapshot())
), told as materialized (
  select pg_catalog.count(*) = (${counter})::pg_catalog.int8 - $9::pg_catalog.int8
    and pg_catalog.bool_and(relations is not null) is not false as everything,
    pg_catalog.bool_or(granted) as granted
  from recorded
)`

const NOTHING_RECORDED = `recorded as (
  select null::pg_catalog.oid[] as relations where false
), told as (
  select false and $9::pg_catalog.text is null as everything, false as granted
)`

/**
 * Relations that were recorded, and those that a GRANT may have been about: its event does not name the object, so
 * columns are searched for rows written since then, by a transaction that is not older than the oldest that was
 * running.
 */
const TOUCHED = `touched as materialized (
  select pg_catalog.unnest(relations) as oid from recorded
  union select a.attrelid from pg_catalog.pg_attribute a
  where (select everything and granted from told) and a.attrelid >= ${firstNormalOid} and a.attnum > '0'
    and pg_catalog.age(a.xmin)
      <= (select pg_catalog.age(pg_catalog.pg_snapshot_xmin($8::pg_catalog.pg_snapshot)::pg_catalog.xid))
)`

/**
 * Relations that may read otherwise than before: the recorded ones, where the record is complete, otherwise all. A
 * change of a relation's row in pg_class (its grants, owner, name, schema, number of columns) is always seen.
 */
const SUSPECTS = `suspects as materialized (
  select p.oid, p.nspname, p.written from places p left join known on known.oid = p.oid
  where (select everything from told) is not true
    or p.written is distinct from known.written or p.oid in (select oid from touched)
)`

/** As an array: where they are few, indexes serve. */
const suspect = 'any (array(select oid from suspects))'

/**
 * A relation's hash: all rows of the catalogues that describe it (of constraints, foreign keys and those NOT NULL that
 * are not valid; pg_index describes the others that matter). Facts about other objects are not in it: names of roles,
 * types and foreign relations (see known.ts). In pg_depend, deptype a: a sequence that a column owns.
 */
const HASHES = `hashes as materialized (
  select part.oid, pg_catalog.bit_xor(part.hash) as hash from (
    select p.oid, pg_catalog.hashtextextended(p.nspname::pg_catalog.text, p.written) as hash from suspects p
    union all select a.attrelid, ${hashOf('a', `a.attnum + '1000'`)}
      from pg_catalog.pg_attribute a where a.attnum > '0' and a.attrelid = ${suspect}
    union all select i.indrelid, ${hashOf('i', `i.indexrelid::pg_catalog.int8 * '8' + '1'`)}
      from pg_catalog.pg_index i where i.indrelid = ${suspect}
    union all select i.indrelid, pg_catalog.hashtextextended(case when i.indpred is null and i.indexprs is null
        then u.relname::pg_catalog.text
        else case path.value when '' then pg_catalog.pg_get_indexdef(i.indexrelid) end end, i.indexrelid::pg_catalog.int8)
      from pg_catalog.pg_index i join pg_catalog.pg_class u on u.oid = i.indexrelid cross join path
      where i.indisunique and i.indrelid = ${suspect}
    union all select k.conrelid, ${hashOf('k', `k.oid::pg_catalog.int8 * '8' + '2'`)}
      from pg_catalog.pg_constraint k where k.conrelid = ${suspect}
        and (k.contype = 'f' or k.contype = 'n' and not k.convalidated)
    union all select d.objoid, ${hashOf('d', `d.objsubid::pg_catalog.int8 * '8' + '3'`)}
      from pg_catalog.pg_description d
      where d.classoid = ${classOf('pg_class')} and d.objoid = ${suspect}
    union all select k.conrelid, ${hashOf('d', `k.oid::pg_catalog.int8 * '8' + '4'`)}
      from pg_catalog.pg_description d join pg_catalog.pg_constraint k on k.oid = d.objoid
      where d.classoid = ${classOf('pg_constraint')} and k.conrelid = ${suspect}
    union all select o.refobjid, ${hashOf('o', `o.objid::pg_catalog.int8 * '8' + '5'`)}
      from pg_catalog.pg_depend o where o.classid = ${classOf('pg_class')} and o.refclassid = o.classid
        and o.deptype = 'a' and o.refobjid = ${suspect}
  ) part group by part.oid
)`

const RELATIONS = `relations as materialized (
  select c.oid, p.nspname, p.served, p.written, hashes.hash, c.relname, c.relkind, c.relowner, c.relrowsecurity, c.reltype,
    ${aclOf('c.relacl', 'r', 'c.relowner')} as acl
  from hashes join places p on p.oid = hashes.oid join pg_catalog.pg_class c on c.oid = hashes.oid
  left join known on known.oid = hashes.oid
  where hashes.hash is distinct from known.hash and c.oid = any (array(select oid from hashes))
)`

/** The relations to answer, as an array: where they are few, indexes serve. */
const asked = 'any (array(select oid from relations))'

/**
 * Those of them that are served. As an array once more, and never by a join: expecting one relation, the planner would look
 * through an array of thousands for each of thousands.
 */
const askedServed = 'any (array(select oid from relations where served))'

/** Columns of the relations and of what their foreign keys refer to. */
const ATTRIBUTES = `attributes as materialized (
  select a.attrelid, a.attnum, a.attname, a.atttypid, a.atttypmod, a.attnotnull, a.attgenerated, a.attidentity,
    a.atthasdef, a.attacl
  from pg_catalog.pg_attribute a
  where a.attrelid = any (array(select oid from relations union select k.confrelid
      from pg_catalog.pg_constraint k where k.conrelid = ${asked} and k.contype = 'f'))
    and a.attnum > '0' and not a.attisdropped
)`

/** Defaults are printed with the names of the objects in them, so a function with defaults is always read. */
const ROUTINES = `own_routines as materialized (
  select p.oid, pg_catalog.hashtextextended(n.nspname::pg_catalog.text, ${hashOf('p', '0')})
    # coalesce(${hashOf('d', '1')}, '0') as hash
  from pg_catalog.pg_proc p join served n on n.oid = p.pronamespace ${commentOf('d', 'pg_proc', 'p.oid')}
), routines as materialized (
  select p.oid, own.hash, n.nspname, p.proname, p.prokind, p.provolatile, p.proretset, p.prorows, p.prorettype,
    p.provariadic,
    coalesce(p.proallargtypes, p.proargtypes::pg_catalog.oid[]) as types, p.proargtypes, p.proargmodes, p.proargnames,
    p.pronargdefaults, p.proargdefaults, ${aclOf('p.proacl', 'f', 'p.proowner')} as acl
  from own_routines own join pg_catalog.pg_proc p on p.oid = own.oid
  join pg_catalog.pg_namespace n on n.oid = p.pronamespace
  left join known_routines known on known.oid = own.oid
  where own.hash is distinct from known.hash or p.proargdefaults is not null
)`

/**
 * The closure of the mentioned types, by what is known ($7) and by what is new: an array mentions its element, a domain
 * what lies under it, a composite type that is no relation's the types of its attributes. Types are few and always
 * read. The seeds are picked from pg_type by an array so that the planner expects few of them: at its default guess for
 * recursion it would take the statement for a costly one and compile it (JIT), which takes seconds.
 */
const MENTIONED = `mentioned(oid) as (
  select oid from pg_catalog.pg_type where oid = any (array(
    select pg_catalog.unnest($7::pg_catalog.oid[])
    union select atttypid from attributes
    union select prorettype from routines
    union select pg_catalog.unnest(types) from routines
    union select t.oid from pg_catalog.pg_type t join pg_catalog.pg_namespace n on n.oid = t.typnamespace
      where t.typtype = 'e' and n.nspname <> 'information_schema' and not pg_catalog.starts_with(n.nspname, 'pg_')
  ))
  union
  select further.oid from mentioned m join pg_catalog.pg_type t on t.oid = m.oid
  cross join lateral (
    select case when ${isArray('t')} then t.typelem else t.typbasetype end
    union all select a.atttypid from pg_catalog.pg_class c join pg_catalog.pg_attribute a on a.attrelid = c.oid
    where c.oid = t.typrelid and c.relkind = 'c' and a.attnum > '0' and not a.attisdropped
  ) further(oid)
  where further.oid <> '0'
)`

/**
 * Arrays have no privileges of their own but their element's, since 17 multiranges their range's (Postgres' aclchk.c,
 * the check of USAGE on types).
 */
const TYPES = `types as materialized (
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
 * By type: the operators of its default btree class, by strategy (`<`, `<=`, `=`, `>=`, `>`), with their schemas (PostgreSQL
 * manual 38.16). Who wants an order of another type has that of a type which it is the same as in memory, as varchar is
 * text; among several Postgres takes the preferred one. A vector (int2vector) is ordered as an array.
 */
const ORDERS = `own_orders as materialized (
  select c.opcintype, pg_catalog.array_agg(n.nspname::pg_catalog.text order by m.amopstrategy) as schemas,
    pg_catalog.array_agg(o.oprname::pg_catalog.text order by m.amopstrategy) as names
  from pg_catalog.pg_opclass c
  join pg_catalog.pg_am a on a.oid = c.opcmethod and a.amname = 'btree'
  join pg_catalog.pg_amop m on m.amopfamily = c.opcfamily and m.amoplefttype = c.opcintype
    and m.amoprighttype = c.opcintype and m.amoppurpose = 's'
  join pg_catalog.pg_operator o on o.oid = m.amopopr
  join pg_catalog.pg_namespace n on n.oid = o.oprnamespace
  where c.opcdefault group by c.oid, c.opcintype
), orders as materialized (
  select distinct on (t.oid) t.oid, o.schemas, o.names
  from types t
  left join pg_catalog.pg_cast k on k.castsource = t.oid and k.castmethod = 'b' and k.castcontext = 'i'
  join own_orders o on o.opcintype = t.oid or o.opcintype = k.casttarget
    or o.opcintype = 'pg_catalog.anyarray'::pg_catalog.regtype::pg_catalog.oid and t.vector
  join pg_catalog.pg_type as_type on as_type.oid = o.opcintype
  where t.typtype = 'b'
  order by t.oid, o.opcintype = t.oid desc, as_type.typispreferred desc, o.opcintype
)`

/** Where types lie that are read, but for what everybody may use in every database. */
const HOMES = `homes as materialized (
  select n.nspname, ${aclOf('n.nspacl', 'n', 'n.nspowner')} as acl
  from pg_catalog.pg_namespace n
  where n.nspname in (select nspname from types) and n.oid not in (select oid from served)
    and n.nspname <> 'information_schema' and not pg_catalog.starts_with(n.nspname, 'pg_')
)`

/** Every distinct ACL once: most objects of a database share a few. */
const ACLS = `acls as (
  select acl from served union select acl from relations union select acl from routines union select acl from types
  union select acl from homes
  union select attacl from attributes where attacl is not null
)`

/** Names of types as format_type prints them; every distinct pair of type and modifier once. */
const TYPE_TEXTS = `select named.oid as type, named.modifier,
    case path.value when '' then nullif(pg_catalog.format_type(named.oid, named.modifier), '???') end as text
  from (select atttypid as oid, atttypmod as modifier from attributes union select oid, -1 from types) named
  cross join path`

const ROLES = `select oid, rolname as name, rolsuper as superuser, rolinherit as inherit, rolbypassrls as "bypassRls"
  from pg_catalog.pg_roles order by rolname`

/** Since 16 a membership says itself whether it inherits, and may stand there once per grantor; before, the member. */
const MEMBERSHIPS = `select member.rolname as member, granted.rolname as group,
    pg_catalog.bool_or(coalesce(m.inherits, member.rolinherit)) as inherits
  from (select null::pg_catalog.bool as inherit_option) before_16
  cross join lateral (select a.member, a.roleid, inherit_option as inherits from pg_catalog.pg_auth_members a) m
  join pg_catalog.pg_roles member on member.oid = m.member
  join pg_catalog.pg_roles granted on granted.oid = m.roleid
  group by member.rolname, granted.rolname order by member.rolname, granted.rolname`

/** One row per grantee and privilege: who granted it, and whether it may be passed on, decides nothing here. */
const GRANTS = `select distinct acls.acl::pg_catalog.text as acl, coalesce(role.rolname, 'public') as grantee,
    item.privilege_type collate pg_catalog."C" as privilege
  from acls cross join lateral pg_catalog.aclexplode(acls.acl) item
  left join pg_catalog.pg_roles role on role.oid = item.grantee
  where item.grantee = '0' or role.oid is not null
  order by acl, grantee, privilege`

const SCHEMA_LIST = `select s.oid, s.nspname as name, d.description as comment, s.acl::pg_catalog.text as acl
  from served s ${commentOf('d', 'pg_namespace', 's.oid')} order by s.place`

const TYPE_SCHEMA_LIST = `select h.nspname as name, h.acl::pg_catalog.text as acl from homes h order by h.nspname`

const RELATION_LIST = `select r.oid, r.hash::pg_catalog.text as hash, r.written::pg_catalog.text as written, r.served, r.nspname as schema,
    r.relname as name, r.relkind as kind,
    owner.rolname as owner, d.description as comment, r.relrowsecurity as "rowSecurity",
    r.reltype as "rowType", r.acl::pg_catalog.text as acl
  from relations r join pg_catalog.pg_roles owner on owner.oid = r.relowner
  ${commentOf('d', 'pg_class', 'r.oid')} order by r.nspname, r.relname`

/** A NOT NULL that is not yet validated (since 18) promises nothing about the rows that are there. */
const COLUMN_LIST = `select a.attrelid as relation, a.attname as name, a.attnum as number,
    a.atttypid as type, a.atttypmod as modifier, a.attnotnull and unproven.oid is null as "notNull",
    a.attgenerated <> '' as generated, a.attidentity <> '' as identity, serial.attnum is not null as serial,
    a.atthasdef as "hasDefault", d.description as comment, a.attacl::pg_catalog.text as acl
  from attributes a ${commentOf('d', 'pg_class', 'a.attrelid', 'a.attnum')}
  left join pg_catalog.pg_constraint unproven on unproven.conrelid = a.attrelid and unproven.conrelid = ${asked}
    and unproven.contype = 'n' and not unproven.convalidated and unproven.conkey[1] = a.attnum
  left join (select distinct owned.refobjid as attrelid, owned.refobjsubid as attnum
    from pg_catalog.pg_depend owned join pg_catalog.pg_class sequence on sequence.oid = owned.objid
    where owned.classid = ${classOf('pg_class')} and owned.refclassid = owned.classid
      and owned.refobjid = ${asked} and owned.deptype = 'a' and sequence.relkind = 'S') serial
    on serial.attrelid = a.attrelid and serial.attnum = a.attnum`

/**
 * Whether tables inherit from this one, so that a query reads their rows with its own, for which its keys do not hold.
 * It stays true for a while after they are gone. Partitions are different: their table's keys hold for all of them.
 */
const INHERITED = `(t.relhassubclass and t.relkind = 'r')`

/**
 * Whether values that differ for an index differ for `=`, too: it has the operators of its columns' types and, where some
 * collation is not deterministic, the columns' own ones. To look at those takes as long as all the rest of an index.
 */
const TELLS_APART = `(not i.indclass::pg_catalog.oid[] operator(pg_catalog.&&)
        array(select o.oid from pg_catalog.pg_opclass o where not o.opcdefault)
      and ((select pg_catalog.bool_and(l.collisdeterministic) from pg_catalog.pg_collation l) or not exists (
        select from rows from (pg_catalog.unnest(i.indkey::pg_catalog.int2[]),
          pg_catalog.unnest(i.indcollation::pg_catalog.oid[])) part(number, compares)
        join pg_catalog.pg_attribute a on a.attrelid = i.indrelid and a.attnum = part.number
        where a.attcollation <> part.compares)))`

/**
 * Unique keys as column numbers (indkey counts from 0; 0 stands for an expression), without INCLUDE columns; those that
 * do not hold yet are left out. Expressions and the condition of a partial one are printed, as defaults are.
 * An index that was not made by a constraint may compare in another way than `=` does.
 */
const UNIQUE_LIST = `select i.indrelid as relation, u.relname as name, i.indisprimary as primary,
    i.indimmediate as immediate,
    not ${INHERITED} and (i.indisprimary or ${TELLS_APART}) as identifying,
    (i.indkey::pg_catalog.int2[])[0:i.indnkeyatts - 1] as numbers,
    case when i.indexprs is not null then case path.value when '' then array(
      select pg_catalog.pg_get_indexdef(i.indexrelid, part.number, false)
      from pg_catalog.generate_series(1, i.indnkeyatts::pg_catalog.int4) part(number) order by part.number) end end as parts,
    case path.value when '' then pg_catalog.pg_get_expr(i.indpred, i.indrelid) end as predicate
  from pg_catalog.pg_index i join pg_catalog.pg_class u on u.oid = i.indexrelid
  join pg_catalog.pg_class t on t.oid = i.indrelid cross join path
  where i.indrelid = ${askedServed} and i.indisunique and i.indisvalid and i.indisready order by u.relname`

/**
 * `guaranteed`: unless the constraint is not validated or not enforced, or is the clone that Postgres keeps for a
 * single partition of the referenced table, or tables inherit from the relation, whose rows it does not hold to it. Keys over periods (since 18) are left out: they do not join by equality.
 */
const FOREIGN_KEY_LIST = `select c.oid, c.conname as name, c.conrelid as relation, c.conkey as numbers,
    c.confrelid as "foreignOid", n.nspname as "foreignSchema", f.relname as "foreignRelation",
    c.confkey as "foreignNumbers",
    c.convalidated and (whole.oid is null or whole.confrelid = c.confrelid) and not ${INHERITED} as guaranteed,
    d.description as comment
  from (select false as conperiod) before_18
  cross join lateral (select k.*, conperiod as temporal from pg_catalog.pg_constraint k
    where k.conrelid = ${askedServed} and k.contype = 'f') c
  join pg_catalog.pg_class t on t.oid = c.conrelid
  join pg_catalog.pg_class f on f.oid = c.confrelid
  join pg_catalog.pg_namespace n on n.oid = f.relnamespace
  left join pg_catalog.pg_constraint whole on whole.oid = c.conparentid
  ${commentOf('d', 'pg_constraint', 'c.oid')}
  where not c.temporal order by c.oid`

const TYPE_LIST = `select t.oid, t.nspname as schema, t.typname as name, t.typtype as kind, t.element,
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
    d.description as comment,
    t.acl::pg_catalog.text as acl
  from types t
  left join orders on orders.oid = t.oid
  left join pg_catalog.pg_class c on c.oid = t.typrelid
  left join pg_catalog.pg_namespace cn on cn.oid = c.relnamespace
  left join (select enumtypid, pg_catalog.json_agg(enumlabel order by enumsortorder) as list
    from pg_catalog.pg_enum group by enumtypid) labels on labels.enumtypid = t.oid
  ${commentOf('d', 'pg_type', 't.oid')} order by t.nspname, t.typname`

/**
 * Comments that ask for settings, on what has none: indexes, sequences, attributes of composite types, constraints other
 * than foreign keys, triggers, policies, and types that are no enums and that nothing served mentions. An argument waits
 * for the search path to be empty, so that all are qualified.
 */
const STRAY_LIST = `select i.type as kind, i.identity as name, d.description as comment
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
 * Members of extensions among what is served. They are no part of an object's hash: ALTER EXTENSION leaves the object as it
 * is.
 */
const MEMBER_LIST = `select case d.classid when ${classOf('pg_proc')} then 'function' else 'relation' end as kind, d.objid as oid
  from pg_catalog.pg_depend d
  where d.refclassid = ${classOf('pg_extension')} and d.deptype = 'e'
    and (d.classid = ${classOf('pg_proc')} and d.objid in (select oid from own_routines)
      or d.classid = ${classOf('pg_class')} and d.objid in (select oid from owned))
  order by d.classid, d.objid`

/**
 * Tables with a trigger that runs for each row before it is added (tgtype: 1 row, 2 before, 4 insert; PostgreSQL's
 * pg_trigger.h). They are no part of the table's hash, since a trigger leaves the table as it is.
 */
const FILLED_LIST = `select distinct t.tgrelid as relation from pg_catalog.pg_trigger t
  where t.tgtype & '7' = '7' and not t.tgisinternal and t.tgrelid in (select oid from owned) order by t.tgrelid`

const GONE_LIST = `select 'relation' as kind, oid from known where oid not in (select oid from places)
  union all select 'function', oid from known_routines where oid not in (select oid from own_routines)`

const FUNCTION_LIST = `select p.oid, p.hash::pg_catalog.text as hash, p.nspname as schema, p.proname as name,
    p.prokind as kind,
    p.provolatile as volatility, p.proretset as "returnsSet", p.prorows as rows, p.prorettype as result,
    p.provariadic <> '0' as variadic, p.types, p.proargmodes as modes, p.proargnames as names,
    p.pronargdefaults as "defaultCount", d.description as comment, p.acl::pg_catalog.text as acl,
    case path.value when '' then pg_catalog.pg_get_expr(p.proargdefaults, '0') end as defaults
  from routines p cross join path ${commentOf('d', 'pg_proc', 'p.oid')}
  order by p.nspname, p.proname,
    case path.value when '' then pg_catalog.oidvectortypes(p.proargtypes) end collate pg_catalog."C"`

/**
 * In the order of evaluation. Functions come first: their defaults are printed from the newest state, not from the
 * snapshot, so the sooner the better (see readCatalog).
 */
const LISTS: Readonly<Record<ListName, string>> = {
  functions: FUNCTION_LIST,
  gone: GONE_LIST,
  roles: ROLES,
  memberships: MEMBERSHIPS,
  grants: GRANTS,
  schemas: SCHEMA_LIST,
  relations: RELATION_LIST,
  columns: COLUMN_LIST,
  uniques: UNIQUE_LIST,
  foreignKeys: FOREIGN_KEY_LIST,
  typeTexts: TYPE_TEXTS,
  types: TYPE_LIST,
  typeSchemas: TYPE_SCHEMA_LIST,
  filled: FILLED_LIST,
  members: MEMBER_LIST,
  strays: STRAY_LIST,
}

/**
 * The statement. $1 text[]: schemas to serve; $2 oid[], $3 and $4 int8[]: known relations, their hashes and who wrote
 * their rows in pg_class; $5 and $6: functions and their hashes; $7 oid[]: types that these mention; $8 and $9 text:
 * the snapshot of the answer before and the counter that it saw, or null. `server` identifies a running server.
 * `version` and `counter` are SQL expressions written by us, never by a user: they are evaluated in the same snapshot.
 */
export const catalogQuery = (version: string | null, counter: string | null): string => `with recursive ${[
  PATH,
  SERVED,
  KNOWN,
  OWNED,
  counter === null ? NOTHING_RECORDED : recordedSince(counter),
  TOUCHED,
  PLACES,
  SUSPECTS,
  HASHES,
  RELATIONS,
  ATTRIBUTES,
  ROUTINES,
  MENTIONED,
  TYPES,
  ORDERS,
  HOMES,
  ACLS,
].join(',\n')}
select pg_catalog.json_build_object(
  'version', (${version ?? 'null'})::pg_catalog.text,
  'snapshot', pg_catalog.pg_current_snapshot()::pg_catalog.text,
  'counter', (${counter ?? 'null'})::pg_catalog.text,
  'server', pg_catalog.pg_postmaster_start_time()::pg_catalog.text,
  'serverVersion', pg_catalog.current_setting('server_version_num')::pg_catalog.int4,
  'databaseOwner', (select pg_catalog.pg_get_userbyid(datdba) from pg_catalog.pg_database
    where datname = pg_catalog.current_database()),
  'readsClaims', ${CLAIM_READERS},
  'leaves', ${LEFTOVERS},
  ${(Object.keys(LISTS) as ListName[]).map((name) => `'${name}', ${listOf(name, LISTS[name])}`).join(',\n  ')}
)::pg_catalog.text as catalog`
