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
export const commentOf = (alias: string, catalog: string, oid: string, number = '0'): string =>
  `left join pg_catalog.pg_description ${alias} on ${alias}.objoid = ${oid}
    and ${alias}.classoid = ${classOf(catalog)} and ${alias}.objsubid = ${number}`

/** The rule of format_type and get_element_type: int2vector, oidvector and name are not arrays. */
export const isArray = (alias: string): string =>
  `${alias}.typelem <> '0' and ${alias}.typstorage <> 'p'
    and ${alias}.typsubscript::pg_catalog.oid
      = 'pg_catalog.array_subscript_handler'::pg_catalog.regproc::pg_catalog.oid`

/**
 * The transaction that wrote the row, as an int8: a changed or re-inserted row has another one. `age` is relative to
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
 * the other. Parts are read one by one (lists.ts); within each a list has its order.
 */
export const sliceOf = (relation: string): string => `${relation}::pg_catalog.int8 / '1024'`

/** Whether the relation `c` of pg_class is in a served schema. */
export const isServed = 'c.relnamespace in (select oid from served)'
