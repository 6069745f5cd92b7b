import type { Leftovers } from '../../runtime/contract/execution.ts'

/**
 * c1: the state of the database. Read from pg_catalog in one snapshot, together with its schema version. It contains no
 * decisions.
 *
 * Lists with an order in Postgres keep it (attribute number, constraint oid, enum sort order); all others are sorted by
 * name in byte order. OIDs are decimal strings: they exceed 2^31 and are only valid within this snapshot.
 */
export type Oid = string

export interface Catalog {
  /** Schema version in this snapshot (engine.md 4), or null without a counter. */
  readonly version: string | null
  /** Postgres' server_version_num, e.g. 180004. */
  readonly serverVersion: number
  readonly databaseOwner: string
  /** Whether the database may read claims of a request as individual settings. */
  readonly readsClaims: boolean
  /** State that functions of the database may leave on a connection; absent: none. */
  readonly leaves?: Leftovers
  /** Served schemas that exist, in the requested order. */
  readonly schemas: readonly CatalogSchema[]
  readonly roles: readonly CatalogRole[]
  /** member -> group, with whether privileges are inherited (per membership since 16, per member before). */
  readonly memberships: readonly { readonly member: string; readonly group: string; readonly inherits: boolean }[]
  /** Tables, partitioned tables, views, materialized views and foreign tables of the served schemas. */
  readonly relations: readonly CatalogRelation[]
  /** Every type that a column, argument or result of the above mentions, and theirs; also every enum. */
  readonly types: readonly CatalogType[]
  /** Schemas of these that are not served; absent if there are none besides pg_catalog and information_schema. */
  readonly typeSchemas?: readonly CatalogTypeSchema[]
  /** Functions, procedures and aggregates of the served schemas. */
  readonly functions: readonly CatalogFunction[]
  /** Comments with settings on other kinds of objects in the served schemas; absent: none. */
  readonly strays?: readonly CatalogStray[]
  /** Relations of the above with a trigger that may set columns of a new row; absent: none. */
  readonly filled?: readonly Oid[]
  /** Tables whose inserts read no other rows (read.ts); absent: none, or no comment asks for nestedWrites. */
  readonly selfContained?: readonly Oid[]
  /** Tables that Citus distributes; absent: none. */
  readonly distributed?: readonly CatalogDistributed[]
  /** Relations and functions of the above that belong to extensions; absent: none. */
  readonly members?: readonly CatalogMember[]
}

export interface CatalogTypeSchema {
  readonly name: string
  readonly grants: readonly CatalogGrant[]
}

/** A relation whose rows lie on other servers. */
export interface CatalogDistributed {
  readonly oid: Oid
  /** The distribution column; null: none, because all rows are in one place or on each server. */
  readonly column: string | null
  /** Whether each server has all rows (a reference table). */
  readonly everywhere: boolean
  /** Relations of one group keep shards of one value on the same server (pg_dist_partition.colocationid); '0': none. */
  readonly group: string
  /** Whether its policies apply to its owner, too. */
  readonly forced: boolean
  /** By name. */
  readonly policies: readonly CatalogPolicy[]
}

/** A policy of row-level security from pg_policy. */
export interface CatalogPolicy {
  readonly name: string
  /** SELECT, INSERT, UPDATE, DELETE, or all of them. */
  readonly command: 'r' | 'a' | 'w' | 'd' | '*'
  readonly permissive: boolean
  /** It applies to all roles. */
  readonly everybody: boolean
  /** Conditions as Postgres prints them; null: none. */
  readonly using: string | null
  readonly check: string | null
}

export interface CatalogMember {
  readonly kind: 'relation' | 'function'
  readonly oid: Oid
  readonly extension: string
}

export interface CatalogStray {
  /** In the owner's notation: `index public.posts_title_idx`. */
  readonly object: string
  readonly comment: string
}

/** One aclitem, resolved to names; grantee `public` is PUBLIC. Defaults (acldefault) are already filled in. */
export interface CatalogGrant {
  readonly grantee: string
  /** Privilege words in upper case, e.g. SELECT, INSERT, UPDATE, DELETE, USAGE, EXECUTE. */
  readonly privileges: readonly string[]
}

export interface CatalogSchema {
  readonly oid: Oid
  readonly name: string
  readonly comment: string | null
  readonly grants: readonly CatalogGrant[]
}

interface CatalogRole {
  readonly name: string
  readonly superuser: boolean
  readonly inherit: boolean
  readonly bypassRls: boolean
}

export interface CatalogRelation {
  readonly oid: Oid
  readonly schema: string
  readonly name: string
  /** pg_class.relkind: r, p, v, m, f. */
  readonly kind: 'r' | 'p' | 'v' | 'm' | 'f'
  readonly owner: string
  readonly comment: string | null
  readonly rowSecurity: boolean
  readonly grants: readonly CatalogGrant[]
  readonly rowType: Oid
  /** By attribute number; dropped columns are absent. */
  readonly columns: readonly CatalogColumn[]
  /** Attribute names in ascending attribute number, without INCLUDE columns; null without a primary key. */
  readonly primaryKey: readonly string[] | null
  /** Column sets of unique, valid, non-partial, expression-free indexes (and constraints), without INCLUDE columns. */
  readonly uniques: readonly (readonly string[])[]
  /**
   * Those of `uniques` for which a query of the relation finds at most one row per value, once deferred ones are
   * checked: they compare like `=`, and no other table's rows are included (manual 5.11, Caveats).
   */
  readonly identifying: readonly (readonly string[])[]
  /** All unique, valid, not deferrable indexes (and constraints), by name: the possible conflicts of a row. */
  readonly uniqueKeys: readonly CatalogUniqueKey[]
  /** By constraint oid; without keys over periods (since 18), which are not equality joins. */
  readonly foreignKeys: readonly CatalogForeignKey[]
}

export interface CatalogColumn {
  readonly name: string
  readonly number: number
  readonly type: Oid
  /** atttypmod, -1 if there is none. */
  readonly modifier: number
  /** format_type under an empty search path: qualified and quoted where needed, with its modifier: varchar(8). */
  readonly typeText: string
  /** Qualified and quoted; absent for the database's default, and if the type has none. */
  readonly collation?: string
  /** A validated NOT NULL constraint in all tables whose rows a query of the relation reads: no row has a null. */
  readonly notNull: boolean
  readonly generated: boolean
  readonly identity: boolean
  /** True if the column owns a sequence (serial). */
  readonly serial: boolean
  readonly hasDefault: boolean
  readonly comment: string | null
  /** attacl only: column-level grants. */
  readonly grants: readonly CatalogGrant[]
}

export interface CatalogUniqueKey {
  /** Of the index, which equals that of its constraint. */
  readonly name: string
  /** In order, without INCLUDE columns: names of columns and printed expressions. */
  readonly parts: readonly ({ readonly column: string } | { readonly expression: string })[]
  /** The printed condition of a partial index. */
  readonly predicate: string | null
}

export interface CatalogForeignKey {
  readonly oid: Oid
  readonly name: string
  readonly columns: readonly string[]
  readonly foreignSchema: string
  readonly foreignRelation: string
  readonly foreignColumns: readonly string[]
  /**
   * True if every row whose columns are not null has its referenced row. False while the constraint is not validated or
   * not enforced, while tables inherit from the relation (whose rows a query includes), and for the clones of a
   * constraint for each partition of the referenced relation: each partition has the rows of some.
   */
  readonly guaranteed: boolean
  readonly comment: string | null
}

export interface CatalogType {
  readonly oid: Oid
  readonly schema: string
  readonly name: string
  /** pg_type.typtype: b(ase) c(omposite) d(omain) e(num) p(seudo) r(ange) m(ultirange). */
  readonly kind: 'b' | 'c' | 'd' | 'e' | 'p' | 'r' | 'm'
  /** format_type under an empty search path, without modifier. */
  readonly text: string
  /** For true arrays: the element type. */
  readonly element: Oid | null
  /** typdelim of the type itself (a box is delimited by a semicolon). */
  readonly delimiter: string
  /** For domains: the type underneath. */
  readonly base: Oid | null
  /** For domains: typtypmod, the modifier of the type underneath, where it has one. */
  readonly modifier?: number
  /** Present if a column without a default gets the type's. */
  readonly hasDefault?: true
  /** For composites: their relation; `standAlone` for a type of its own. */
  readonly relation: {
    readonly oid: Oid
    readonly schema: string
    readonly name: string
    readonly standAlone: boolean
  } | null
  /** For composites without a relation: the attributes in order; empty for all others. */
  readonly attributes: readonly { readonly name: string; readonly type: Oid; readonly modifier?: number }[]
  /** For enums: labels in sort order. */
  readonly labels: readonly string[]
  /** Of a base type: its default btree operators; null: none; absent: `<` and so on of pg_catalog. */
  readonly order?: CatalogOrder | null
  /** The pattern operators `~`, `~*`, `~~` and `~~*` of the type itself; absent: none. */
  readonly patterns?: CatalogOrder
  readonly comment: string | null
  readonly grants: readonly CatalogGrant[]
}

/** Operators, for example those for `<`, `<=`, `=`, `>=`, `>`. */
export type CatalogOrder = readonly { readonly schema: string; readonly name: string }[]

export interface CatalogFunction {
  readonly oid: Oid
  readonly schema: string
  readonly name: string
  /** pg_proc.prokind: f(unction) p(rocedure) a(ggregate) w(indow). */
  readonly kind: 'f' | 'p' | 'a' | 'w'
  readonly volatility: 'i' | 's' | 'v'
  readonly returnsSet: boolean
  /** prorows. */
  readonly rows: number
  readonly result: Oid
  readonly variadic: boolean
  /** IN and INOUT (and VARIADIC) arguments in order; name '' if unnamed. */
  readonly args: readonly { readonly name: string; readonly type: Oid; readonly typeText: string }[]
  /** True if there are OUT, INOUT or TABLE columns. */
  readonly hasOutColumns: boolean
  /** pronargdefaults and pg_get_expr(proargdefaults): the printed default list, null if there is none. */
  readonly defaultCount: number
  readonly defaults: string | null
  readonly comment: string | null
  readonly grants: readonly CatalogGrant[]
}

/**
 * True if at most one row has given values in the columns: they include a unique key. A subset suffices, the primary
 * key counts, and the Catalog contains neither partial indexes nor those over expressions (spec/graphql.md 8.3).
 */
export const isUnique = (
  { primaryKey, uniques }: Pick<CatalogRelation, 'primaryKey' | 'uniques'>,
  columns: readonly string[],
): boolean => someWithin([primaryKey ?? [], ...uniques], columns)

/**
 * Whether, moreover, queries find at most one such row, even with the rows of child tables. A statement for a single
 * row then needs no limit, which costs a step of its own, and joining it repeats nothing.
 */
export const isIdentified = (
  { identifying }: Pick<CatalogRelation, 'identifying'>,
  columns: readonly string[],
): boolean => someWithin(identifying, columns)

const someWithin = (uniques: readonly (readonly string[])[], columns: readonly string[]): boolean =>
  uniques.some((unique) => unique.length > 0 && unique.every((column) => columns.includes(column)))

interface Keyed extends Pick<CatalogRelation, 'uniques'> {
  readonly columns: readonly Pick<CatalogColumn, 'name' | 'notNull'>[]
}

/** The first unique index whose columns are all NOT NULL: it identifies rows like a primary key. */
export function notNullKey({ columns, uniques }: Keyed): readonly string[] | null {
  const notNull = new Set(columns.filter((column) => column.notNull).map(({ name }) => name))
  return uniques.find((names) => names.every((name) => notNull.has(name))) ?? null
}

/**
 * Objects of the database in the owner's notation: `column public.posts.title`, `table "My Blog"."Posts"`. Source:
 * PostgreSQL manual, Identifiers and Key Words.
 */

const plain = /^[a-z_][a-z0-9_]*$/

const part = (name: string): string => (plain.test(name) ? name : `"${name.replaceAll('"', '""')}"`)

const path = (...names: readonly string[]): string => names.map(part).join('.')

const relationWords = { r: 'table', p: 'table', v: 'view', m: 'materialized view', f: 'foreign table' } as const

type RelationKind = keyof typeof relationWords

/** The relation's kind in words, e.g. `view`. */
export const relationWord = (kind: RelationKind): (typeof relationWords)[RelationKind] => relationWords[kind]

export const nameObject = (word: string, ...names: readonly string[]): string => `${word} ${path(...names)}`

interface RelationLike {
  readonly schema: string
  readonly name: string
  readonly kind: RelationKind
}

export const nameSchema = (name: string): string => nameObject('schema', name)

export const nameRelation = (relation: RelationLike): string =>
  nameObject(relationWord(relation.kind), relation.schema, relation.name)

export const nameColumn = (relation: RelationLike, column: string): string =>
  nameObject('column', relation.schema, relation.name, column)

export const nameConstraint = (relation: RelationLike, constraint: string): string =>
  `constraint ${part(constraint)} on ${path(relation.schema, relation.name)}`

/** With its argument types, as COMMENT ON FUNCTION requires: `function public.add(integer, integer)`. */
export const nameFunction = ({ schema, name, args }: FunctionLike): string =>
  `${nameObject('function', schema, name)}(${args.map(({ typeText }) => typeText).join(', ')})`

interface FunctionLike {
  readonly schema: string
  readonly name: string
  readonly args: readonly { readonly typeText: string }[]
}

export const nameAttribute = (schema: string, type: string, attribute: string): string =>
  nameObject('attribute', schema, type, attribute)

export const nameType = (schema: string, name: string): string => nameObject('type', schema, name)
