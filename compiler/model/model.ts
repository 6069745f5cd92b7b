import type { CatalogUniqueKey } from '../catalog/catalog.ts'
import type { Manifest, ObjectId } from '../../runtime/contract/manifest.ts'

/**
 * c3: the API. The manifest is for the runtime; the rest is the source of the builders. No OIDs and no comment text
 * from here on.
 */
export interface Model {
  readonly manifest: Manifest
  /** In the order of the manifest. */
  readonly entities: readonly EntitySql[]
  /** Root functions, likewise. */
  readonly functions: readonly CallSql[]
}

/** How a value becomes JSON (spec/graphql.md 3.1 to 3.3). */
export type JsonForm =
  /** As row_to_json prints it. */
  | { readonly kind: 'native' }
  /** int8, numeric: its text. */
  | { readonly kind: 'text' }
  /** int8[], numeric[], json[], jsonb[]: an array of texts. */
  | { readonly kind: 'text-array' }
  /** json, jsonb: text form, strings without quotes, JSON null as null. */
  | { readonly kind: 'json-text' }
  /** geometry, geography: GeoJSON, by functions of PostGIS in this schema. */
  | { readonly kind: 'geojson'; readonly schema: string }
  /** A scalar enum with mapped labels: [label, printed name]; other labels print as they are. */
  | { readonly kind: 'mapped'; readonly names: readonly (readonly [label: string, name: string])[] }
  /** An array of an enum with mapped labels, where arrays print mapped names: as `mapped`, element by element. */
  | { readonly kind: 'mapped-array'; readonly names: readonly (readonly [label: string, name: string])[] }
  /** A form that mentions its value more than once, for values that must be evaluated once; null for an empty set. */
  | { readonly kind: 'once'; readonly of: JsonForm }
  /** The result of a function that returns a set of one value: null for an empty set, an error for more. */
  | { readonly kind: 'only'; readonly of: JsonForm }

export interface GeoSql {
  /** The schema of PostGIS. */
  readonly schema: string
  readonly kind: 'geometry' | 'geography'
  /** The reference system of all values; 0 if each value has its own. */
  readonly srid: number
}

/** The operators for these, as SQL: `operator("ext".#<#)`. */
export type OrderSql = Readonly<Record<'<' | '<=' | '=' | '>=' | '>', string>> &
  Readonly<Partial<Record<'~~' | '~~*' | '~' | '~*', string>>>

export interface CastSql {
  /** Qualified, quoted type, for a cast without truncation: `numeric(6,2)`, `varchar`, `"public"."mood"`, `int4[]`. */
  readonly type: string
  /** True for arrays: a JSON array is read by json_to_recordset as text[] and then cast. */
  readonly array: boolean
  /** True if the element type's delimiter is a comma, so that an array literal may be cast to `type` directly. */
  readonly plainDelimiter: boolean
  /** For values served as GeoJSON. */
  readonly geo?: GeoSql
  /** Of a composite value, or of a list of them, whose form in cursors and node ids is JSON. */
  readonly composite?: true
  /** The comparison operators, if `<` and so on are not found on the search path. */
  readonly order?: OrderSql
}

interface ValueSql extends CastSql {
  readonly json: JsonForm
  /** The type it is read as, if operators do not accept its own: a domain over an enum, an array of a domain. */
  readonly readAs?: string
  /** The attributes of a composite value, if they are in the API. */
  readonly attributes?: readonly AttributeSql[]
}

export interface ColumnSql extends ValueSql {
  /** SQL name. */
  readonly column: string
  /** Whether a value prints the same in json and jsonb. */
  readonly alike: boolean
  readonly notNull: boolean
  /** Quoted with its schema; absent for the database's default. */
  readonly collation?: string
}

export interface AttributeSql extends ValueSql {
  /** SQL name. */
  readonly attribute: string
}

export interface EntitySql {
  readonly id: ObjectId
  readonly schema: string
  readonly relation: string
  /** Every live column for a builder, by attribute number. */
  readonly columns: readonly ColumnSql[]
  readonly key: readonly string[]
  readonly computed: readonly {
    readonly id: ObjectId
    readonly schema: string
    readonly function: string
    readonly json: JsonForm
    /** Its arguments besides the row; absent without any. */
    readonly args?: readonly ArgumentSql[]
    readonly attributes?: readonly AttributeSql[]
    /** The type of its value, if there are filters on it. */
    readonly filter?: CastSql
  }[]
  /** SQL of type text: the tenant whose rows the caller sees, if policies determine it. */
  readonly tenant?: string
  /** The keys of `onConflict`; only with upsert. */
  readonly arbiters?: readonly ArbiterSql[]
  readonly presets?: readonly string[]
}

/** A unique index for the inference of ON CONFLICT. */
export type ArbiterSql = CatalogUniqueKey

export interface ArgumentSql extends CastSql {
  /** GraphQL name. */
  readonly field: string
  /** SQL argument name. */
  readonly name: string
  /** Present if it is passed by position. */
  readonly positional?: true
}

export interface CallSql {
  readonly id: ObjectId
  readonly schema: string
  readonly function: string
  readonly args: readonly ArgumentSql[]
  /** For scalar results. */
  readonly json: JsonForm
  /** For composite results. */
  readonly attributes?: readonly AttributeSql[]
}
