import type { Missing } from './brought.ts'
import type { AllowlistFacts, LimitFacts } from './guards.ts'
import type { ConditionFacts, DefaultOrderFacts, SoftDeleteFacts } from './stated.ts'
import type { ExtensionName, FormAddition, FormName } from './filter-forms.ts'
import type { ScalarName } from './scalar-names.ts'
import type { Leftovers } from './execution.ts'
import type { LiveFacts } from './live.ts'

/**
 * The manifest: what the API of one database is, for every role at once.
 *
 * Made by the compiler from the model, read by the engine. It holds names, types and privileges; it holds no SQL text
 * (that is the builders' part, see builder.ts), no OIDs and no comment text.
 */

/** Name of a database role, or `public` for the privileges that everybody has (PUBLIC; no role can bear that name). */
export type Grantee = string

/** Who holds a privilege, sorted. A role holds it when one of its effective roles is listed, or when it is a superuser. */
export type Grantees = readonly Grantee[]

/** GraphQL type of a column, an argument or a scalar result, without its nullability. */
export type ValueType =
  | {
      readonly kind: 'scalar'
      readonly name: ScalarName
      readonly list: boolean
      /** Present where an addition brings the filter of its values. */
      readonly form?: FormName
    }
  /** `id` is an `EnumFacts.id`. */
  | { readonly kind: 'enum'; readonly id: string; readonly list: boolean }
  /** `id` is a `CompositeFacts.id`. */
  | { readonly kind: 'composite'; readonly id: string; readonly list: false }

/** `schema.name` as two JSON strings, e.g. `["public","posts"]`: unambiguous for all names. */
export type ObjectId = string

export interface Manifest {
  readonly format: 1
  /** Served schemas in the order of precedence. */
  readonly schemas: readonly SchemaFacts[]
  /** Roles that hold a privilege on an object of the manifest, sorted, without PUBLIC. */
  readonly holders: readonly Grantee[]
  /** Roles that are more than plain (role-facts.ts): superusers, and who inherits from a holder of anything here. */
  readonly roles: Readonly<Record<string, RoleFacts>>
  /** Schemas that are not served and hold types that are named here; absent: everybody may use all of them. */
  readonly typeSchemas?: readonly TypeSchemaFacts[]
  readonly enums: readonly EnumFacts[]
  /** Composite types; absent unless a served schema has `composites` on (spec/graphql.md 17). */
  readonly composites?: readonly CompositeFacts[]
  /** Something in the database may read claims as settings of their own; absent: as `request.jwt.claims` alone. */
  readonly readsClaims?: true
  /** What functions of the database may leave behind on a connection; absent: nothing. */
  readonly leaves?: Leftovers
  /** Rows of some relation lie on other servers (Citus); absent: all are here. */
  readonly distributed?: DistributedFacts
  /** Some served schema has `geo` on, so that there is a scalar for GeoJSON (spec/graphql.md 17). */
  readonly geo?: true
  /** Some relation has `groups` on, so that there are the types that say how rows are grouped (spec/graphql.md 17.2). */
  readonly groups?: true
  /** The forms of values whose filters additions bring; absent: none. */
  readonly forms?: readonly FormName[]
  /** The schemas of extensions whose operators those use; absent: none is there. */
  readonly extensions?: Readonly<Partial<Record<ExtensionName, string>>>
  /** Some relation has `updates` on, so that there are the types of its operators; absent: none has. */
  readonly updates?: true
  /** Some relation has `softDelete`, so that there is the type of what asks for deleted rows; absent: none has. */
  readonly softDelete?: true
  /** Some relation has `unions`, whose types have names of their own; absent: none has. */
  readonly unions?: true
  /** Some relation has `interfaces`, which have names of their own; absent: none has. */
  readonly interfaces?: true
  /** Inputs say that they take exactly one member, so that there is the directive for it; absent: none does. */
  readonly oneOf?: true
  /** Something is deprecated, so that there is the directive that says so; absent: nothing is. */
  readonly deprecated?: true
  /** Relations of the served schemas, in order (schema precedence, then name in byte order). */
  readonly entities: readonly EntityFacts[]
  /** Functions that are root fields, same order. */
  readonly functions: readonly FunctionFacts[]
  /** False when any served schema switches the specification's rules off. */
  readonly validation: boolean
  /** Set when comments make requests fail (spec/graphql.md 13.1): the first that a role meets is answered. */
  readonly refusal: readonly RefusalFacts[] | null
  /**
   * The most that one document may select and cost (spec/graphql.md 17, `limits`); absent when no served schema limits
   * it.
   */
  readonly limits?: LimitFacts
  /**
   * Lists of the documents that may run (spec/graphql.md 17, `allowlist`), in the order of the schemas; absent when
   * there is none. The first that governs a role is the role's.
   */
  readonly allowlists?: readonly AllowlistFacts[]
  /** Whether requests may ask for their statements and plans (spec/graphql.md 17, `explain`); absent: they may not. */
  readonly explain?: true
  /** Schemas whose report a request may select (spec/graphql.md 17, `schemaReport`); absent: none. */
  readonly report?: ReportFacts
}

export interface DistributedFacts {
  /** Roles with BYPASSRLS, sorted: what their statements say of tenants depends on it. */
  readonly bypassing: readonly Grantee[]
}

export interface ReportFacts {
  /** Names of the schemas that asked for it. */
  readonly schemas: readonly string[]
  /** Everything that stands in them, in the order of the manifest. */
  readonly relations: readonly ReportedRelation[]
  readonly functions: readonly ReportedFunction[]
  /** The compiler's diagnostics for all schemas. */
  readonly remarks: readonly Diagnostic[]
}

export interface ReportedRelation {
  /** As its owner would write it: `table public.posts`. */
  readonly object: string
  readonly kind: EntityFacts['kind']
  readonly schema: string
  readonly name: string
  /** The extension that brought it; absent: none did. */
  readonly ofExtension?: string
  /** Null when it has no place in the manifest. */
  readonly entity: ObjectId | null
  /** Null when it depends on the role. */
  readonly missing: Missing | null
}

export interface ReportedFunction {
  readonly object: string
  readonly schema: string
  readonly name: string
  /** Types that it takes, in SQL. */
  readonly arguments: readonly string[]
  /** The extension that brought it; absent: none did. */
  readonly ofExtension?: string
  /** Where its facts are: among the computed fields of a row, or among the root's functions; null: it has none. */
  readonly facts: { readonly row: ObjectId | null; readonly id: ObjectId } | null
  /** Null when it depends on the role. */
  readonly missing: Missing | null
}

/** One remark of the compiler for the owner of a database. */
export interface Diagnostic {
  readonly code: string
  readonly severity: 'error' | 'warning' | 'info'
  /** The object it is about, as the owner would write it: `table public.posts`, `column public.posts.title`. */
  readonly object: string
  readonly message: string
  readonly fix: string
}

export interface SchemaFacts {
  readonly name: string
  readonly introspection: boolean
  readonly usage: Grantees
}

/** What is answered to everybody who may use the schema that the comment stands in. */
export interface RefusalFacts {
  readonly message: string
  readonly usage: Grantees
}

export interface TypeSchemaFacts {
  readonly name: string
  readonly usage: Grantees
}

/** The type of a value, and what a role has to be allowed in order to write it. */
export interface TypeFacts {
  readonly type: ValueType
  /** Schema whose USAGE the role needs to see the type; null for pg_catalog's types. */
  readonly typeSchema: string | null
  /** Likewise the schema of what lies under a domain; absent where that is the same or pg_catalog. */
  readonly underSchema?: string
}

export interface RoleFacts {
  readonly superuser: boolean
  /** The role itself, `public`, and every role whose privileges it inherits and that holds anything named here. */
  readonly effective: readonly Grantee[]
}

/** What its owner says of something that is to be used no more (spec/graphql.md 17.5); absent: it may be used. */
export interface Deprecable {
  readonly deprecated?: string
}

export interface EnumFacts {
  readonly id: ObjectId
  readonly schema: string
  /** GraphQL name. */
  readonly name: string
  /** In sort order; labels that give no valid GraphQL name are left out. */
  readonly values: readonly EnumValueFacts[]
  /** True when some label is printed under another name. */
  readonly mapped: boolean
  readonly usage: Grantees
}

export interface EnumValueFacts extends Deprecable {
  readonly label: string
  readonly name: string
}

/** A composite type whose values are objects. */
export interface CompositeFacts {
  readonly id: ObjectId
  readonly schema: string
  /** GraphQL name. */
  readonly name: string
  readonly fields: readonly AttributeFacts[]
}

export interface AttributeFacts extends TypeFacts {
  /** SQL name. */
  readonly attribute: string
  /** GraphQL name. */
  readonly field: string
  /** Whether it has a field in the filter type. */
  readonly filter: boolean
}

/** Additions of spec/graphql.md 17 that a table or its schema switches on; absent where they are off. */
export interface EntityAdditions extends Readonly<Partial<Record<FormAddition, true>>> {
  /** Its filter type has fields for related rows. */
  readonly relationFilters?: true
  /** Its order type has fields for related rows. */
  readonly orderByRelated?: true
  /** Its connections take `distinctOn`. */
  readonly distinctOn?: true
  /** Its insert takes `onConflict`. */
  readonly upsert?: true
  /** Its connections have `groups`. */
  readonly groups?: true
  /** Arrays of enums are filtered, and printed under the mapped names of their labels. */
  readonly enumArrays?: true
  /** Rows are changed by their keys, many at once with values of their own, and by operators. */
  readonly updates?: true
  /** Its insert takes related rows. */
  readonly nestedWrites?: true
  /** Its filter type compares columns with each other. */
  readonly columnFilters?: true
  /** Inputs of which exactly one member makes sense say so. */
  readonly oneOf?: true
}

export interface EntityFacts extends EntityAdditions, Deprecable {
  readonly id: ObjectId
  readonly schema: string
  /** SQL name of the relation; stands in node ids. */
  readonly relation: string
  readonly kind: 'table' | 'view' | 'materialized view' | 'foreign table'
  /** Base name B of spec/graphql.md 2.2: the GraphQL type's name. */
  readonly name: string
  readonly description: string | null
  /** Largest page (spec/graphql.md 5.3). */
  readonly maxRows: number
  readonly totalCount: boolean
  readonly aggregate: boolean
  /** False: no collection and by-key field on Query (`root`, spec/graphql.md 17). */
  readonly root: boolean
  /** SQL names of the key columns in node-id order (spec/graphql.md 1.2); empty: the relation has no key. */
  readonly key: readonly string[]
  /** False when a query may find several rows of one key (a comment's, or with rows of inheriting tables): take the first. */
  readonly unique: boolean
  /** By attribute number; columns whose type does not map are left out unless they belong to the key. */
  readonly columns: readonly ColumnFacts[]
  /** Forward relations first, then reverse ones, each in catalogue order, comment-declared ones last. */
  readonly relations: readonly RelationFacts[]
  /** Fields that lead to rows of several relations (spec/graphql.md 17.9); absent: there are none. */
  readonly unions?: readonly UnionFacts[]
  /** Names of the interfaces that its type has beside Node (spec/graphql.md 17.9); absent: none. */
  readonly interfaces?: readonly string[]
  /** Those of them whose collections have its rows; absent: none. */
  readonly collections?: readonly string[]
  /** Functions of its row; of those that a role sees under one name the last has it (spec/graphql.md 2.4). */
  readonly computed: readonly FunctionFacts[]
  /** What Citus distributes the rows by; absent: it does not. */
  readonly tenant?: TenantFacts
  /** Nothing of the owner's reads other rows where its rows are inserted; only where some relation has nestedWrites. */
  readonly selfContained?: true
  /**
   * Who may insert each of the columns that Citus writes defaults of into every insert: a role needs the right to all of them, or the
   * table's. Absent: there are none, or nobody has rights to single columns.
   */
  readonly sentDefaults?: readonly Grantees[]
  /** What tells that its rows changed, or why nothing does; absent where nothing in the database is live. */
  readonly live?: LiveFacts
  /** Keys besides the primary one that rows are looked up by; only with the addition `uniqueKeys`. */
  readonly lookups?: readonly LookupFacts[]
  /** The same that rows are changed and connected by; only with the addition `updates` or `nestedWrites`. */
  readonly rowKeys?: readonly LookupFacts[]
  /** What `onConflict` can name; only with upsert. */
  readonly uniqueKeys?: readonly UniqueKeyFacts[]
  /** What its collections are sorted by where nothing is asked for; absent: by the key alone. */
  readonly defaultOrder?: readonly DefaultOrderFacts[]
  /** Which rows its collections have where nothing is asked for; absent: all. */
  readonly defaultFilter?: readonly ConditionFacts[]
  /** What marks its rows as deleted; null: something that cannot, so that nothing is deleted; absent: nothing. */
  readonly softDelete?: SoftDeleteFacts | null
  /** What its comment says of columns for single roles, by role; absent: nothing. */
  readonly access?: readonly AccessFacts[]
  /** Table-level privileges. */
  readonly grants: TableGrants
}

/** Columns, by SQL name, that are another thing for one role (spec/graphql.md 17.5). */
export interface AccessFacts {
  readonly role: Grantee
  /** Inputs lack them. */
  readonly withheld: readonly string[]
  /** All but inputs lacks them. */
  readonly writeOnly: readonly string[]
  readonly presets: readonly PresetFacts[]
}

/** A column and the places of the builder's expressions that it is set to; null: it is not set. */
export interface PresetFacts {
  readonly column: string
  readonly insert: number | null
  readonly update: number | null
}

/** Rows with the same value in a column are one tenant's, and lie on one server. */
export interface TenantFacts {
  /** SQL name of the column that the relation is distributed by. */
  readonly column: string
  /** Present where policies let a caller see the rows of one tenant alone. */
  readonly policed?: PolicedFacts
}

export interface PolicedFacts {
  /** Roles that no policy of the relation holds for, sorted. */
  readonly exempt: readonly string[]
}

/** A unique key of columns alone, without a condition. */
export interface LookupFacts {
  /** SQL names, in the order of the key. */
  readonly columns: readonly string[]
  /** False when a query may find several rows, as with `EntityFacts.unique`: take the first. */
  readonly unique: boolean
}

/** A unique key that holds at once. */
export interface UniqueKeyFacts {
  /** Its SQL name, which is a GraphQL name too. */
  readonly name: string
  /** SQL names of its columns, which a role has to read in order to name it. */
  readonly columns: readonly string[]
  /** Those of them that are computed from others; the values of all others an insert has to give. */
  readonly generated?: readonly string[]
  /** True when it depends on more than that (expressions, a condition): the role has to read the whole relation. */
  readonly whole: boolean
}

export interface TableGrants {
  readonly select: Grantees
  readonly insert: Grantees
  readonly update: Grantees
  readonly delete: Grantees
}

export interface ColumnFacts extends Deprecable {
  /** SQL name. */
  readonly column: string
  /** GraphQL name; null when it gives no valid name (the column then serves as key only). */
  readonly field: string | null
  /** Null when the type does not map (the column then serves as key only). */
  readonly type: ValueType | null
  readonly typeSchema: TypeFacts['typeSchema']
  readonly underSchema?: string
  readonly notNull: boolean
  readonly description: string | null
  /** Length in characters of char(n) and varchar(n) scalars (spec/graphql.md 3.4), else null. */
  readonly maxLength: number | null
  /** Whether the column has a field in the filter type, the order type. */
  readonly filter: boolean
  readonly order: boolean
  /** Columns with the same text are compared with each other; only with columnFilters. */
  readonly comparison?: string
  /** Rows of several relations are sorted by columns with the same text; only where interfaces have collections. */
  readonly sorting?: string
  readonly aggregate: AggregateFacts
  /** Whether the column may stand in insert and update inputs at all (not generated, identity or serial). */
  readonly input: boolean
  /** Present where an insert that does not name the column fails: it is NOT NULL, and nothing else gives it a value. */
  readonly required?: true
  /** Column-level privileges, in addition to the table's. */
  readonly grants: ColumnGrants
}

export interface ColumnGrants {
  readonly select: Grantees
  readonly insert: Grantees
  readonly update: Grantees
}

/** Declared result types of spec/graphql.md 6; null where the function is not offered for the column. */
export interface AggregateFacts {
  readonly sum: ScalarName | null
  readonly avg: ScalarName | null
  readonly min: ScalarName | null
  readonly max: ScalarName | null
}

export interface RelationFacts {
  readonly field: string
  /** `one`: a field of the target's type; `many`: a connection. */
  readonly shape: 'one' | 'many'
  readonly direction: 'forward' | 'reverse'
  readonly target: ObjectId
  /** SQL names of the joined columns here and there, pairwise. */
  readonly local: readonly string[]
  readonly foreign: readonly string[]
  /** True for a forward relation whose field is NonNull (spec/graphql.md 8.4). */
  readonly notNull: boolean
  /** False when several target rows may match a to-one relation, as with `EntityFacts.unique`: take the first. */
  readonly unique: boolean
  /** Present where every row has its related row, so that an order by it may begin there; with orderByRelated or groups. */
  readonly always?: true
  /** Present where more than the columns of one key decides which rows are related. */
  readonly way?: WayFacts
}

/** How a relation leads on that has no key of its own (spec/graphql.md 17.7, 17.8). */
export interface WayFacts {
  /** Relations in between, the first from here first. */
  readonly through: readonly ThroughFacts[]
  /** Conditions on the rows there; absent: none. */
  readonly where?: readonly ConditionFacts[]
  /** Several rows in between may connect the same two rows. */
  readonly repeats?: true
  /** The relation in between connects rows (`manyToMany`), which therefore lead to each other. */
  readonly crosses?: true
}

/** A relation in between: `near` equals what stands before it, `far` what comes after it, pairwise. */
export interface ThroughFacts {
  readonly entity: ObjectId
  readonly near: readonly string[]
  readonly far: readonly string[]
  /** Conditions on its rows; absent: none. */
  readonly where?: readonly ConditionFacts[]
}

/** A field that leads to one row, by the first of its relations that leads to one (spec/graphql.md 17.9). */
export interface UnionFacts {
  readonly field: string
  /** Name of its GraphQL type, the union of the types that its relations lead to. */
  readonly type: string
  /** Each leads to one row. */
  readonly of: readonly RelationFacts[]
}

export interface FunctionFacts extends Deprecable {
  readonly id: ObjectId
  readonly schema: string
  /** SQL name. */
  readonly function: string
  readonly field: string
  readonly description: string | null
  readonly volatile: boolean
  /** Input arguments in order; those of a computed field without the row. */
  readonly args: readonly ArgumentFacts[]
  readonly result: ResultFacts
  readonly execute: Grantees
  /** Present on a computed field that has a field in the filter type. */
  readonly filter?: true
  /** What tells that it answers something else, or why nothing does; absent where nothing in the database is live. */
  readonly live?: LiveFacts
}

export interface ArgumentFacts extends TypeFacts {
  /** GraphQL name. */
  readonly field: string
  /** False when Postgres has a default: the argument is nullable and may be left out. */
  readonly required: boolean
  /** GraphQL literal to show as the default in introspection (spec/graphql.md 9.2), or null. */
  readonly defaultValue: string | null
  /** What Postgres takes where it is left out, as it prints that; present where it is no GraphQL literal. */
  readonly databaseDefault?: string
  /** Present where it is passed by its place, so that none before it may be left out. */
  readonly positional?: true
}

export type ResultFacts =
  | { readonly kind: 'void' }
  | ({ readonly kind: 'value' } & TypeFacts)
  | { readonly kind: 'row'; readonly entity: ObjectId }
  | { readonly kind: 'set'; readonly entity: ObjectId }
