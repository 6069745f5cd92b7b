import type { Leftovers } from '../../runtime/contract/execution.ts'

/**
 * c1: what the database is. Read from pg_catalog in one snapshot, together with its schema version. Decides nothing.
 *
 * Lists that have an order in Postgres keep it (attribute number, constraint oid, enum sort order); all others are
 * sorted by name in byte order. OIDs are decimal strings: they go beyond 2^31 and mean nothing outside this snapshot.
 */
export type Oid = string

export interface Catalog {
  /** Schema version that this snapshot shows (engine.md 4), or null where nothing counts it. */
  readonly version: string | null
  /** Postgres' server_version_num, e.g. 180004. */
  readonly serverVersion: number
  readonly databaseOwner: string
  /** Whether anything in the database may read claims of a request as settings of their own. */
  readonly readsClaims: boolean
  /** What functions of the database may leave behind on a connection; absent: nothing. */
  readonly leaves?: Leftovers
  /** Served schemas that exist, in the order asked for. */
  readonly schemas: readonly CatalogSchema[]
  readonly roles: readonly CatalogRole[]
  /** member -> group, with whether privileges are inherited (per membership since 16, per member before). */
  readonly memberships: readonly { readonly member: string; readonly group: string; readonly inherits: boolean }[]
  /** Tables, partitioned tables, views, materialized views and foreign tables of the served schemas. */
  readonly relations: readonly CatalogRelation[]
  /** Every type that a column, argument or result of the above mentions, and what these mention; also every enum. */
  readonly types: readonly CatalogType[]
  /** Schemas of these that are not served; absent where there are none, pg_catalog and information_schema apart. */
  readonly typeSchemas?: readonly CatalogTypeSchema[]
  /** Functions, procedures and aggregates of the served schemas. */
  readonly functions: readonly CatalogFunction[]
  /** Comments that ask for settings on other objects of the served schemas; absent where there are none. */
  readonly strays?: readonly CatalogStray[]
  /** Relations of the above with a trigger that may set columns of a row before it is added; absent where there are none. */
  readonly filled?: readonly Oid[]
  /**
   * Tables of the above into which rows are inserted without anything of the owner's reading other rows; absent where there are none,
   * and where no comment asks for nestedWrites.
   */
  readonly selfContained?: readonly Oid[]
  /** What Citus distributes; absent where there is nothing. */
  readonly distributed?: readonly CatalogDistributed[]
  /** Relations and functions of the above that extensions brought; absent where there are none. */
  readonly members?: readonly CatalogMember[]
}

export interface CatalogTypeSchema {
  readonly name: string
  readonly grants: readonly CatalogGrant[]
}

/** A relation whose rows lie on other servers. */
export interface CatalogDistributed {
  readonly oid: Oid
  /** What decides where a row lies; null: nothing does, since all of them lie in one place or in each. */
  readonly column: string | null
  /** Whether each server has all rows (a reference table). */
  readonly everywhere: boolean
  /** Relations of one group have the shards of one value side by side (pg_dist_partition.colocationid); '0': none. */
  readonly group: string
  /** Whether its policies hold for its owner, too. */
  readonly forced: boolean
  /** By name. */
  readonly policies: readonly CatalogPolicy[]
}

/** A policy of row-level security, as pg_policy has it. */
export interface CatalogPolicy {
  readonly name: string
  /** SELECT, INSERT, UPDATE, DELETE, or all of them. */
  readonly command: 'r' | 'a' | 'w' | 'd' | '*'
  readonly permissive: boolean
  /** It is for all roles. */
  readonly everybody: boolean
  /** Conditions as Postgres prints them; null: it has none. */
  readonly using: string | null
  readonly check: string | null
}

export interface CatalogMember {
  readonly kind: 'relation' | 'function'
  readonly oid: Oid
  /** The name of the extension. */
  readonly extension: string
}

export interface CatalogStray {
  /** As its owner would write it: `index public.posts_title_idx`. */
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

export interface CatalogRole {
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
  /** OID of its row type. */
  readonly rowType: Oid
  /** By attribute number; dropped columns are absent. */
  readonly columns: readonly CatalogColumn[]
  /** Attribute names in ascending attribute number, without INCLUDE columns; null when there is no primary key. */
  readonly primaryKey: readonly string[] | null
  /** Column sets of unique, valid, non-partial, expression-free indexes (and constraints), without INCLUDE columns. */
  readonly uniques: readonly (readonly string[])[]
  /**
   * Those of `uniques` of which no query of the relation finds several rows with the same values, once those that are
   * deferred are checked: they compare as `=` does, and no other table's rows are read with the relation's own (manual
   * 5.11, Caveats).
   */
  readonly identifying: readonly (readonly string[])[]
  /** All unique, valid indexes (and constraints) that are checked at once, by name: what a row may conflict with. */
  readonly uniqueKeys: readonly CatalogUniqueKey[]
  /** By constraint oid; without keys over periods (since 18), which do not join by equality. */
  readonly foreignKeys: readonly CatalogForeignKey[]
}

export interface CatalogColumn {
  readonly name: string
  readonly number: number
  readonly type: Oid
  /** atttypmod, -1 when there is none. */
  readonly modifier: number
  /** format_type under an empty search path: qualified and quoted where needed, with its modifier: varchar(8). */
  readonly typeText: string
  /** Quoted with its schema; absent where it is the database's, and where the type has none. */
  readonly collation?: string
  /** A NOT NULL constraint that is validated, in all tables whose rows a query of the relation reads: none of them holds a null. */
  readonly notNull: boolean
  readonly generated: boolean
  readonly identity: boolean
  /** True when the column owns a sequence (serial). */
  readonly serial: boolean
  readonly hasDefault: boolean
  readonly comment: string | null
  /** attacl only: column-level grants. */
  readonly grants: readonly CatalogGrant[]
}

export interface CatalogUniqueKey {
  /** Of the index, which is that of its constraint. */
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
   * True when every row whose columns are not null has its row over there. False while the constraint is not validated
   * or not enforced, while tables inherit from the relation (in whose rows a query sees no difference), and for the
   * clones that Postgres keeps per partition of a partitioned foreign relation: each partition holds the rows of some.
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
  /** Present where a column without a default takes the type's. */
  readonly hasDefault?: true
  /** For composites: the relation whose rows they are; `standAlone` when it is none but the type itself. */
  readonly relation: {
    readonly oid: Oid
    readonly schema: string
    readonly name: string
    readonly standAlone: boolean
  } | null
  /** For composites that are no relation's rows: the attributes in order; none for all others. */
  readonly attributes: readonly { readonly name: string; readonly type: Oid; readonly modifier?: number }[]
  /** For enums: labels in sort order. */
  readonly labels: readonly string[]
  /**
   * Of a base type: what orders its values, by the default btree operator class; null when nothing does, absent when that is
   * `<` and so on of pg_catalog.
   */
  readonly order?: CatalogOrder | null
  /** What matches its values with patterns: `~`, `~*`, `~~` and `~~*` that are made for the type; absent where none are. */
  readonly patterns?: CatalogOrder
  readonly comment: string | null
  readonly grants: readonly CatalogGrant[]
}

/** Operators, such as those that stand for `<`, `<=`, `=`, `>=`, `>`. */
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
  /** IN and INOUT (and VARIADIC) arguments in order; name '' when it has none. */
  readonly args: readonly { readonly name: string; readonly type: Oid; readonly typeText: string }[]
  /** True when there are OUT, INOUT or TABLE columns. */
  readonly hasOutColumns: boolean
  /** pronargdefaults and pg_get_expr(proargdefaults): the printed default list, null when there is none. */
  readonly defaultCount: number
  readonly defaults: string | null
  readonly comment: string | null
  readonly grants: readonly CatalogGrant[]
}
