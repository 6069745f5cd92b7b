import type { GraphqlResult } from '../graphql.ts'

/**
 * The types of generated declarations, and the result types of selections. Generated interfaces list the fields of an
 * object type with the types of their values; a field that is not a plain value is marked by one of the five types
 * below. Marks exist for the type checker only.
 */

declare const fields: unique symbol
declare const takes: unique symbol
declare const value: unique symbol
declare const either: unique symbol

/** A field whose value is an object with a selection. */
export interface Of<Fields, Args = {}> {
  readonly [fields]: Fields
  readonly [takes]: Args
}

/**
 * A field whose value is an object of one of several types. The selection names these types like fields, and the answer
 * is the selection of the actual type, distinguished by `__typename`.
 */
export interface Either<Types, Args = {}> extends Of<Types, Args> {
  readonly [either]: true
}

/** A field whose value is a list of objects. */
export interface ListOf<Fields, Args = {}> {
  readonly [fields]: readonly Fields[]
  readonly [takes]: Args
}

/** A field whose value is a list of such objects. */
export interface ListOfEither<Types, Args = {}> extends ListOf<Types, Args> {
  readonly [either]: true
}

/** A field of a plain value that takes arguments. */
export interface Computed<Value, Args> {
  readonly [value]: Value
  readonly [takes]: Args
}

/**
 * The possible selection of an object: fields, each with `true`, a selection, or its arguments and `select`. With
 * `object` the type checker accepts an object without these names as a selection, so that `Checked` reports all errors
 * together.
 */
export type Selection<Fields> = object & { readonly [Name in keyof Fields]?: Choice<NonNullable<Fields[Name]>> }

type Choice<Field> =
  Field extends ListOf<infer Fields, infer Args>
    ? ChoiceOf<Fields, Args>
    : Field extends Of<infer Fields, infer Args>
      ? ChoiceOf<Fields, Args>
      : Field extends Computed<unknown, infer Args>
        ? Args | ({} extends Args ? true : never)
        : true

type ChoiceOf<Fields, Args> = keyof Args extends never ? Selection<Fields> : Asked<Fields, Args>

/** An object with arguments: these, and its selection. */
export type Asked<Fields, Args> = Args & { readonly select: Selection<Fields> }

/** The object that answers a selection: only the selected fields. */
export type Answer<Fields, Select> = Chosen<Fields, Select, keyof Fields & keyof Select>

/** With `Names` the type checker keeps the fields' comments. */
type Chosen<Fields, Select, Names extends keyof Fields> = {
  readonly [Name in Names]: Answered<Fields[Name], Select[Name & keyof Select]>
}

export type Answered<Field, Select> =
  Field extends ListOfEither<infer Types, infer Args>
    ? AnswerOfEither<Types, SelectedWith<Args, Select>>[]
    : Field extends ListOf<infer Fields, infer Args>
      ? Answer<Fields, SelectedWith<Args, Select>>[]
      : Field extends Either<infer Types, infer Args>
        ? AnswerOfEither<Types, SelectedWith<Args, Select>>
        : Field extends Of<infer Fields, infer Args>
          ? Answer<Fields, SelectedWith<Args, Select>>
          : Field extends Computed<infer Value, unknown>
            ? Value
            : Field

type AnswerOfEither<Types, Select> = {
  readonly [Name in keyof Types]: { readonly __typename: Name } & (Name extends keyof Select
    ? Answered<Types[Name], Select[Name]>
    : {})
}[keyof Types]

/** The selection, which accompanies arguments if there are any. */
type SelectedWith<Args, Select> = keyof Args extends never ? Select : Select['select' & keyof Select]

declare const noSuchName: unique symbol

/** A type without values: the error message about an unknown name shows both of its parameters. */
interface NoSuchName<Name, DidYouMean> {
  readonly [noSuchName]: readonly [Name, DidYouMean]
}

/** The names with the same beginning: two letters, or else one. */
type Alike<Name, Known> = Name extends `${infer First}${infer Second}${string}`
  ? OrElse<Extract<Known, `${First}${Second}${string}`>, Extract<Known, `${First}${string}`>>
  : never

type OrElse<Type, Other> = [Type] extends [never] ? Other : Type

/**
 * The selection itself if all of its names are fields; an unknown name must have a type without values. While a
 * selection is incomplete, the editor treats it as the whole type: checking that would visit every related table.
 */
export type Checked<Fields, Select> =
  Selection<Fields> extends Select
    ? unknown
    : {
        readonly [Name in keyof Select]: Name extends keyof Fields
          ? CheckedField<NonNullable<Fields[Name]>, Select[Name]>
          : NoSuchName<Name, Alike<Name, keyof Fields>>
      }

type CheckedField<Field, Select> =
  Field extends ListOf<infer Fields, infer Args>
    ? CheckedObject<Fields, Args, Select>
    : Field extends Of<infer Fields, infer Args>
      ? CheckedObject<Fields, Args, Select>
      : Field extends Computed<unknown, infer Args>
        ? CheckedArguments<Args, Select>
        : Select

type CheckedObject<Fields, Args, Select> = keyof Args extends never
  ? Checked<Fields, Select>
  : CheckedAsked<Fields, Args, Select>

/** The same for a selection with arguments. */
export type CheckedAsked<Fields, Args, Given> =
  Asked<Fields, Args> extends Given
    ? unknown
    : {
        readonly [Name in keyof Given]: Name extends 'select'
          ? Checked<Fields, Given[Name]>
          : CheckedMember<Args, Given, Name, 'select'>
      }

/** The same for arguments, whose objects the type checker would otherwise accept with unknown names. */
type CheckedArguments<Args, Given> = Given extends string | number | bigint | boolean | null | undefined | Date
  ? Given
  : Args extends readonly (infer Item)[]
    ? { readonly [Index in keyof Given]: CheckedArguments<NonNullable<Item>, Given[Index]> }
    : { readonly [Name in keyof Given]: CheckedMember<Args, Given, Name> }

type CheckedMember<Args, Given, Name extends keyof Given, More = never> = Name extends keyof Args
  ? CheckedArguments<NonNullable<Args[Name]>, Given[Name]>
  : NoSuchName<Name, Alike<Name, keyof Args | More>>

/** An object with exactly one of these members. */
export type OneOf<Members> = {
  [Name in keyof Members]: { readonly [One in Name]: Members[One] } & {
    readonly [Other in Exclude<keyof Members, Name>]?: never
  }
}[keyof Members]

/** A page of a collection. `rows` stands for `edges { node }`. */
export interface Connection<Row, EdgeOf = Edge<Row>> {
  /** The rows of the page. */
  readonly rows: ListOf<Row>
  /** The rows of the page, each with its cursor. */
  readonly edges: ListOf<EdgeOf>
  /** Where the page stands in the collection. */
  readonly pageInfo: Of<PageInfo>
}

export interface Edge<Row> {
  /** The place of the row in the collection: for `after` and `before`. */
  readonly cursor: string
  readonly node: Of<Row>
}

/** A page of rows of several types. */
export interface EitherConnection<Types> {
  /** The rows of the page, discriminated by `__typename`. */
  readonly rows: ListOfEither<Types>
  /** The rows of the page, each with its cursor. */
  readonly edges: ListOf<EitherEdge<Types>>
  /** Where the page stands in the collection. */
  readonly pageInfo: Of<PageInfo>
}

export interface EitherEdge<Types> {
  /** The place of the row in the collection: for `after` and `before`. */
  readonly cursor: string
  readonly node: Either<Types>
}

export interface PageInfo {
  /** Cursor of the last row of the page; null when the page is empty. */
  readonly endCursor: string | null
  readonly hasNextPage: boolean
  readonly hasPreviousPage: boolean
  /** Cursor of the first row of the page; null when the page is empty. */
  readonly startCursor: string | null
}

/** Which rows of a collection, and in what order; tables add `filter` and `orderBy`. */
export interface Page {
  /** How many rows to take from the start; the default is the most that the table gives at once. */
  readonly first?: Maybe<number>
  /** How many rows to take from the end. */
  readonly last?: Maybe<number>
  /** Take rows that come before this cursor; goes with last. */
  readonly before?: Maybe<string>
  /** Take rows that come after this cursor; goes with first. */
  readonly after?: Maybe<string>
  /** How many rows to leave out at the start; goes with first and after. */
  readonly offset?: Maybe<number>
}

/** Nullable members may be left out. */
export type Maybe<Value> = Value | null | undefined

/** The result of an insert, an update or a delete. */
export interface Written<Row> {
  /** How many rows were added, changed or removed. */
  readonly affectedCount: number
  /** These rows. */
  readonly records: ListOf<Row>
}

/**
 * Requests the rows of a page. Arguments and selection are one value, because the type checker reports only the first
 * wrong argument of a call.
 */
export interface List<Row, Args> {
  <const Given extends Asked<Row, Args>>(
    given: Given & CheckedAsked<Row, Args, Given>,
  ): Promise<GraphqlResult<Answer<Row, Given['select']>[]>>
}

/** Requests an object, or null if `Field` may be null. */
export interface Ask<Field, Args> {
  <const Given extends Asked<FieldsOf<Field>, Args>>(
    given: Given & CheckedAsked<FieldsOf<Field>, Args, Given>,
  ): Promise<GraphqlResult<Answered<Field, Given['select']>>>
}

export type FieldsOf<Field> = Field extends Of<infer Fields> ? Fields : never

/** Calls a function that returns a plain value. */
export type Call<Value, Args> = {} extends Args
  ? (args?: Args) => Promise<GraphqlResult<Value>>
  : (args: Args) => Promise<GraphqlResult<Value>>

/** A geometry of GeoJSON (RFC 7946, 3.1). */
export type Geometry =
  | Shape<'Point', Position>
  | Shape<'MultiPoint' | 'LineString', readonly Position[]>
  | Shape<'MultiLineString' | 'Polygon', readonly (readonly Position[])[]>
  | Shape<'MultiPolygon', readonly (readonly (readonly Position[])[])[]>
  | { readonly type: 'GeometryCollection'; readonly geometries: readonly Geometry[] }

interface Shape<Type, Coordinates> {
  readonly type: Type
  readonly coordinates: Coordinates
}

/** Longitude, latitude and optionally altitude; or the coordinates of the column's system. */
export type Position = readonly number[]
