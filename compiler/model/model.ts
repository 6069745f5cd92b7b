import type { Manifest, ObjectId } from '../../runtime/contract/manifest.ts'

/**
 * c3: what the API will be. The manifest is what the runtime reads; the rest is what the builders are written from.
 * No OIDs and no comment text from here on.
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
  /** A form that mentions its value more than once, for what is to be evaluated once; null where a set is empty. */
  | { readonly kind: 'once'; readonly of: JsonForm }
  /** What a function answers that returns a set of one value: null when the set is empty, an error when there are more. */
  | { readonly kind: 'only'; readonly of: JsonForm }

/** How GeoJSON becomes a value of a type of PostGIS. */
export interface GeoSql {
  /** Where PostGIS is. */
  readonly schema: string
  readonly kind: 'geometry' | 'geography'
  /** The reference system of all values; 0 where each value has its own. */
  readonly srid: number
}

/** The operators that stand for these, as SQL: `operator("ext".#<#)`. */
export type OrderSql = Readonly<Record<'<' | '<=' | '=' | '>=' | '>', string>> &
  Readonly<Partial<Record<'~~' | '~~*' | '~' | '~*', string>>>

/** How a text becomes a value. */
export interface CastSql {
  /** Schema-qualified, quoted type, ready for a cast that cuts nothing: `numeric(6,2)`, `varchar`, `"public"."mood"`, `int4[]`. */
  readonly type: string
  /** True for arrays: a JSON array goes in through json_to_recordset as text[] and is cast from there. */
  readonly array: boolean
  /** True when the element type's delimiter is a comma, so that an array literal may be cast to `type` directly. */
  readonly plainDelimiter: boolean
  /** For what is served as GeoJSON. */
  readonly geo?: GeoSql
  /** Of a composite value, or of a list of them, which cursors and node ids show as JSON. */
  readonly composite?: true
  /** What compares values, where that is not what `<` and so on find on the search path. */
  readonly order?: OrderSql
}

interface ValueSql extends CastSql {
  readonly json: JsonForm
  /** What it is read as, where operators would not take its own type: a domain over an enum, an array of a domain. */
  readonly readAs?: string
  /** What a composite value consists of, where the API looks into it. */
  readonly attributes?: readonly AttributeSql[]
}

export interface ColumnSql extends ValueSql {
  /** SQL name. */
  readonly column: string
  /** Whether a value prints the same in json as in jsonb. */
  readonly alike: boolean
  readonly notNull: boolean
  /** Quoted with its schema; absent where it is the database's. */
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
  /** Every live column that a builder may need, by attribute number. */
  readonly columns: readonly ColumnSql[]
  readonly key: readonly string[]
  readonly computed: readonly {
    readonly id: ObjectId
    readonly schema: string
    readonly function: string
    readonly json: JsonForm
    /** What it takes besides the row; absent when that is nothing. */
    readonly args?: readonly ArgumentSql[]
    readonly attributes?: readonly AttributeSql[]
    /** The type of its value, where there are filters on it. */
    readonly filter?: CastSql
  }[]
  /** SQL of type text: which tenant's rows the caller sees, where policies say so. */
  readonly tenant?: string
  /** What `onConflict` can name; only with upsert. */
  readonly arbiters?: readonly ArbiterSql[]
  /** Expressions that columns are set to. */
  readonly presets?: readonly string[]
}

/** A unique index, as far as ON CONFLICT infers it. */
export interface ArbiterSql {
  readonly name: string
  readonly parts: readonly ({ readonly column: string } | { readonly expression: string })[]
  readonly predicate: string | null
}

export interface ArgumentSql extends CastSql {
  /** GraphQL name. */
  readonly field: string
  /** SQL argument name. */
  readonly name: string
  /** Present where it is passed by its place. */
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
