import type { Missing } from './brought.ts'
import type { AllowlistFacts, LimitFacts } from './guards.ts'
import type { ConditionFacts, DefaultOrderFacts } from './stated.ts'
import type { ScalarName } from './scalar-names.ts'
import type { Leftovers } from './execution.ts'
import type { LiveFacts } from './live.ts'

/**
 * The manifest: the API of one database, for all roles at once.
 *
 * Made by the compiler from the model, read by the engine. It holds names, types and privileges; it holds no SQL text
 * (see builder.ts), no OIDs and no comment text.
 */

/** Name of a database role, or `public` for PUBLIC; no role can have that name. */
export type Grantee = string

/** The holders of a privilege, sorted: a role needs one of them among its effective roles, or to be a superuser. */
export type Grantees = readonly Grantee[]

/** GraphQL type of a column, an argument or a scalar result, without its nullability. */
export type ValueType =
  | {
      readonly kind: 'scalar'
      readonly name: ScalarName
      readonly list: boolean
      /** The name of a form, present if an addition defines the filter of its values. */
      readonly form?: string
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
  /** Roles with more than their own privileges (facts.ts): superusers, and heirs of a privileged role. */
  readonly roles: Readonly<Record<string, RoleFacts>>
  /** Schemas that are not served and contain used types; absent: every role has USAGE on them. */
  readonly typeSchemas?: readonly TypeSchemaFacts[]
  readonly enums: readonly EnumFacts[]
  /** Composite types; absent unless a served schema has `composites` on (spec/graphql.md 17). */
  readonly composites?: readonly CompositeFacts[]
  /** The database may read individual claim settings; absent: only `request.jwt.claims`. */
  readonly readsClaims?: true
  /** State that functions of the database may leave on a connection; absent: none. */
  readonly leaves?: Leftovers
  /** Rows of some relation lie on other servers (Citus); absent: all are local. */
  readonly distributed?: DistributedFacts
  /** The forms of values whose filters additions define; absent: none. */
  readonly forms?: readonly string[]
  /** The schemas of extensions whose operators those use; absent: none is installed. */
  readonly extensions?: Readonly<Record<string, string>>
  /** Some relation has `unions`, whose types have names of their own. */
  readonly unions?: true
  /** Some relation has `interfaces`, which have names of their own. */
  readonly interfaces?: true
  /** Relations of the served schemas, in order (schema precedence, then name in byte order). */
  readonly entities: readonly EntityFacts[]
  /** Functions that are root fields, same order. */
  readonly functions: readonly FunctionFacts[]
  /** False if some served schema switches validation off. */
  readonly validation: boolean
  /** Set if comments make requests fail (spec/graphql.md 13.1): the first that concerns a role is answered. */
  readonly refusal: readonly RefusalFacts[] | null
  /**
   * The limits of one document's selections and cost (spec/graphql.md 17, `limits`); absent: no served schema has any.
   */
  readonly limits?: LimitFacts
  /**
   * Allow-lists of documents (spec/graphql.md 17, `allowlist`), in the order of the schemas; absent: none. The first
   * that governs a role applies.
   */
  readonly allowlists?: readonly AllowlistFacts[]
  /** Schemas whose report a request may select (spec/graphql.md 17, `schemaReport`); absent: none. */
  readonly report?: ReportFacts
}

export interface DistributedFacts {
  /** Roles with BYPASSRLS, sorted: the tenant conditions of their statements depend on it. */
  readonly bypassing: readonly Grantee[]
}

export interface ReportFacts {
  /** Names of the schemas that ask for it. */
  readonly schemas: readonly string[]
  /** All relations in them, in the order of the manifest. */
  readonly relations: readonly ReportedRelation[]
  readonly functions: readonly ReportedFunction[]
  /** The compiler's diagnostics for all schemas. */
  readonly remarks: readonly Diagnostic[]
}

export interface ReportedRelation {
  /** In the owner's notation: `table public.posts`. */
  readonly object: string
  readonly kind: EntityFacts['kind']
  readonly schema: string
  readonly name: string
  /** The extension that created it; absent: none. */
  readonly ofExtension?: string
  /** Null if it is not in the manifest. */
  readonly entity: ObjectId | null
  /** Null if it depends on the role. */
  readonly missing: Missing | null
}

export interface ReportedFunction {
  readonly object: string
  readonly schema: string
  readonly name: string
  /** Types of its arguments, in SQL. */
  readonly arguments: readonly string[]
  /** The extension that created it; absent: none. */
  readonly ofExtension?: string
  /** The place of its facts: among the computed fields of a row, or among the root's functions; null: none. */
  readonly facts: { readonly row: ObjectId | null; readonly id: ObjectId } | null
  /** Null if it depends on the role. */
  readonly missing: Missing | null
}

/** One remark of the compiler for the owner of a database. */
export interface Diagnostic {
  readonly code: string
  readonly severity: 'error' | 'warning' | 'info'
  /** The object in the owner's notation: `table public.posts`, `column public.posts.title`. */
  readonly object: string
  readonly message: string
  readonly fix: string
}

export interface SchemaFacts {
  readonly name: string
  readonly introspection: boolean
  readonly usage: Grantees
}

/** The answer to every role with USAGE on the schema of the comment. */
export interface RefusalFacts {
  readonly message: string
  readonly usage: Grantees
}

export interface TypeSchemaFacts {
  readonly name: string
  readonly usage: Grantees
}

/** The type of a value, and the privileges that writing it requires. */
export interface TypeFacts {
  readonly type: ValueType
  /** Schema whose USAGE the role needs to see the type; null for pg_catalog's types. */
  readonly typeSchema: string | null
  /** The schema of a domain's base type; absent if it is the same or pg_catalog. */
  readonly underSchema?: string
}

export interface RoleFacts {
  readonly superuser: boolean
  /** The role itself, `public`, and every role whose privileges it inherits and that has privileges here. */
  readonly effective: readonly Grantee[]
}

/** The owner's deprecation reason (spec/graphql.md 17.5); absent: not deprecated. */
export interface Deprecable {
  readonly deprecated?: string
}

export interface EnumFacts {
  readonly id: ObjectId
  readonly schema: string
  /** GraphQL name. */
  readonly name: string
  /** In sort order; labels without a valid GraphQL name are left out. */
  readonly values: readonly EnumValueFacts[]
  /** True if some label is printed under another name. */
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

/** Additions of spec/graphql.md 17 that a table or its schema enables. */
export interface EntityAdditions {}

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
  /** False if a query may find several rows of one key (a comment's, or with rows of child tables): take the first. */
  readonly unique: boolean
  /** By attribute number; columns of unmapped types are left out unless they belong to the key. */
  readonly columns: readonly ColumnFacts[]
  /** Forward relations first, then reverse ones, each in catalogue order, comment-declared ones last. */
  readonly relations: readonly RelationFacts[]
  /** Fields for one row of several possible relations (spec/graphql.md 17.9). */
  readonly unions?: readonly UnionFacts[]
  /** Names of the interfaces that its type has besides Node (spec/graphql.md 17.9). */
  readonly interfaces?: readonly string[]
  /** Those of them whose collections have its rows. */
  readonly collections?: readonly string[]
  /** Functions of its row; of visible ones with one name the last is used (spec/graphql.md 2.4). */
  readonly computed: readonly FunctionFacts[]
  /** The column by which Citus distributes the rows; absent: not distributed. */
  readonly tenant?: TenantFacts
  /**
   * The roles that may insert each of the columns whose defaults Citus adds to every insert: a role needs all of these privileges,
   * or the table's. Absent: there are no such columns, or no column grants.
   */
  readonly sentDefaults?: readonly Grantees[]
  /** The relations whose changes matter to its rows, or why it cannot be watched; absent if no relation is live. */
  readonly live?: LiveFacts
  /** Unique keys for changing and connecting rows; only with the addition `updates` or `nestedWrites`. */
  readonly rowKeys?: readonly LookupFacts[]
  /** The default order of its collections; absent: the key. */
  readonly defaultOrder?: readonly DefaultOrderFacts[]
  /** The default conditions of its collections; absent: none. */
  readonly defaultFilter?: readonly ConditionFacts[]
  /** Column settings of its comment for single roles, by role. */
  readonly access?: readonly AccessFacts[]
  /** Table-level privileges. */
  readonly grants: TableGrants
}

/** Columns, by SQL name, with settings for one role (spec/graphql.md 17.5). */
export interface AccessFacts {
  readonly role: Grantee
  /** Absent from inputs. */
  readonly withheld: readonly string[]
  /** Only in inputs. */
  readonly writeOnly: readonly string[]
  readonly presets: readonly PresetFacts[]
}

/** A column and the places of its value among the builder's expressions; null: not set. */
export interface PresetFacts {
  readonly column: string
  readonly insert: number | null
  readonly update: number | null
}

/** Rows with equal values in a column belong to one tenant, and lie on one server. */
export interface TenantFacts {
  /** SQL name of the column that the relation is distributed by. */
  readonly column: string
  /** Present if policies limit a caller to the rows of one tenant. */
  readonly policed?: PolicedFacts
}

export interface PolicedFacts {
  /** Roles to which no policy of the relation applies, sorted. */
  readonly exempt: readonly string[]
}

/** A unique key of columns only, without a condition. */
export interface LookupFacts {
  /** SQL names, in the order of the key. */
  readonly columns: readonly string[]
  /** False if a query may find several rows, as with `EntityFacts.unique`: take the first. */
  readonly unique: boolean
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
  /** GraphQL name; null if there is no valid name (the column is then part of a key only). */
  readonly field: string | null
  /** Null if the type is not mapped (the column is then part of a key only). */
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
  /** Rows of several relations can be sorted by columns with equal texts; only for interfaces with collections. */
  readonly sorting?: string
  readonly aggregate: AggregateFacts
  /** Whether the column may be in insert and update inputs (not generated, identity or serial). */
  readonly input: boolean
  /** Present if an insert without the column fails: it is NOT NULL and has no default. */
  readonly required?: true
  /** Column-level privileges, in addition to the table's. */
  readonly grants: ColumnGrants
}

export interface ColumnGrants {
  readonly select: Grantees
  readonly insert: Grantees
  readonly update: Grantees
}

/** Declared result types of spec/graphql.md 6; null if the function is not available for the column. */
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
  /** SQL names of the joined columns at both ends, in pairs. */
  readonly local: readonly string[]
  readonly foreign: readonly string[]
  /** True for a forward relation whose field is NonNull (spec/graphql.md 8.4). */
  readonly notNull: boolean
  /** False if several target rows may match a to-one relation, as with `EntityFacts.unique`: take the first. */
  readonly unique: boolean
  /** Present if every row has its related row, so that an order may begin with it; with additions that sort by it. */
  readonly always?: true
  /** Present if the join is more than an equality of columns. */
  readonly way?: WayFacts
}

/** The join of a relation declared by a comment (spec/graphql.md 17.7, 17.8). */
export interface WayFacts {
  /** Intermediate relations, the nearest first. */
  readonly through: readonly ThroughFacts[]
  /** Conditions on the rows there; absent: none. */
  readonly where?: readonly ConditionFacts[]
  /** Several intermediate rows may connect the same two rows. */
  readonly repeats?: true
  /** The intermediate relation connects rows (`manyToMany`), so both ends lead to each other. */
  readonly crosses?: true
}

/** An intermediate relation: `near` equals columns before it, `far` columns after it, in pairs. */
export interface ThroughFacts {
  readonly entity: ObjectId
  readonly near: readonly string[]
  readonly far: readonly string[]
  /** Conditions on its rows; absent: none. */
  readonly where?: readonly ConditionFacts[]
}

/** A field for one row, from the first of its relations with a row (spec/graphql.md 17.9). */
export interface UnionFacts {
  readonly field: string
  /** Name of its GraphQL type, the union of its relations' types. */
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
  /** The relations whose changes matter to its result, or why it cannot be watched; absent if no relation is live. */
  readonly live?: LiveFacts
}

export interface ArgumentFacts extends TypeFacts {
  /** GraphQL name. */
  readonly field: string
  /** False if Postgres has a default: the argument is nullable and optional. */
  readonly required: boolean
  /** GraphQL literal to show as the default in introspection (spec/graphql.md 9.2), or null. */
  readonly defaultValue: string | null
  /** The default of Postgres, as it prints it; present if it has no GraphQL literal. */
  readonly databaseDefault?: string
  /** Present if it is passed by position, so that no earlier one may be left out. */
  readonly positional?: true
}

export type ResultFacts =
  | { readonly kind: 'void' }
  | ({ readonly kind: 'value' } & TypeFacts)
  | { readonly kind: 'row'; readonly entity: ObjectId }
  | { readonly kind: 'set'; readonly entity: ObjectId }
