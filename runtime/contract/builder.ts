/**
 * The SQL builders: the compiler's knowledge of a relation's SQL, as small functions from expressions to expressions.
 *
 * Generated modules hold values of these shapes as plain JavaScript without imports. Every string in and out is SQL
 * text made of quoted names, aliases and placeholders; a user's value is never part of it.
 */

/** SQL text of an expression. */
export type Expression = string

/** Of a column, or of an attribute of a composite value. */
export interface AttributeBuilder {
  /** Its value within a row or composite value: `t1` -> `t1."title"`, `t1."home"` -> `(t1."home")."street"`. */
  readonly of: (row: Expression) => Expression
  /** The value as it prints in JSON (spec/graphql.md 3.1): `p1.c1` -> `p1.c1::text` for int8. */
  readonly json: (value: Expression) => Expression
  /** A text parameter as a value of the type, without truncation: `$1` -> `$1::numeric(6,2)`, `$1::varchar`. */
  readonly operand: (parameter: Expression) => Expression
  /** A text parameter holding an array literal as an array of the type (`in`): `$1` -> `$1::int4[]`. */
  readonly operands: (parameter: Expression) => Expression
  /** The comparison operators, if they are not on the search path: `>` -> `operator("ext".#>#)`. */
  readonly order?: Comparisons
  /** By spatial operator: its function, `"public".st_within`; only if values are GeoJSON. */
  readonly spatial?: Spatial
  /** By SQL name: the attributes of a composite value, if they are in the API. */
  readonly attributes?: Attributes
}

export interface ColumnBuilder extends AttributeBuilder {
  /** The value as an element of a cursor for json_build_array, which prints it as jsonb does. */
  readonly cursor: (value: Expression) => Expression
  /** True when the catalogue says NOT NULL. */
  readonly notNull: boolean
  /** `"pg_catalog"."C"`; absent for the database's default. */
  readonly collation?: string
  /** The column's definition in json_to_recordset, and the conversion of its value to the column's type. */
  readonly recordType: string
  readonly fromRecord: (value: Expression) => Expression
}

/** The latter for `like`, `ilike`, `regex` and `iregex`, if the type has its own. */
export type Comparisons = Readonly<Record<'<' | '<=' | '=' | '>=' | '>', Expression>> &
  Readonly<Partial<Record<'~~' | '~~*' | '~' | '~*', Expression>>>

export type Spatial = Readonly<Record<string, Expression>>

export type Attributes = Readonly<Record<string, AttributeBuilder>>

export interface CallBuilder {
  /** `"public"."add"`. */
  readonly name: string
  /** By GraphQL argument name: `$1` -> `"a" => $1::int4`. */
  readonly args: Readonly<Record<string, (parameter: Expression) => Expression>>
  /** A scalar result as it prints in JSON; identity for rows. */
  readonly json: (value: Expression) => Expression
  /** Of a composite result. */
  readonly attributes?: Attributes
}

export interface ComputedBuilder {
  /** The call: `t1.*` -> `"public"."full_name"(t1.*)`; the arguments are in passed form. */
  readonly of: (row: Expression, args: readonly Expression[]) => Expression
  readonly json: (value: Expression) => Expression
  /** By GraphQL argument name; absent if it takes only the row. */
  readonly args?: CallBuilder['args']
  /** Of a composite result. */
  readonly attributes?: Attributes
  /** Like those of columns; only if there are filters on it. */
  readonly operand?: ColumnBuilder['operand']
  readonly operands?: ColumnBuilder['operands']
  readonly order?: Comparisons
  readonly spatial?: Spatial
}

export interface EntityBuilder {
  /** `"public"."posts"`; also the name of the row's composite type. */
  readonly relation: string
  /** By SQL column name. */
  readonly columns: Readonly<Record<string, ColumnBuilder>>
  /** Text of a node id from the key columns' values, in key order (spec/graphql.md 7.1); base64 without line breaks. */
  readonly nodeId: (key: readonly Expression[]) => Expression
  /** By function id: computed fields; the argument is the row. */
  readonly computed: Readonly<Record<string, ComputedBuilder>>
  /** By name of a unique key: `on conflict ("email")`; only with upsert. */
  readonly arbiters?: Readonly<Record<string, Expression>>
  /** The owner's values of columns (spec/graphql.md 17.5): expressions without a row, by their place. */
  readonly presets?: readonly Expression[]
  /** A function of claims: the tenant column's value in all rows that a caller sees, if policies determine it. */
  readonly tenant?: Expression
}
