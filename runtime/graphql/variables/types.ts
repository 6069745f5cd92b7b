import type { ScalarName } from '../../contract/scalar-names.ts'

/**
 * What a variable may be, as plain data: enough to read values by, without a schema. Types lead to themselves (a filter holds filters),
 * so an object's fields are made when they are first asked for.
 */
export type InputType = NonNullInput | ListInput | NamedInput
export type NamedInput = ScalarInput | EnumInput | FieldsInput

/** `text` is the type as a document writes it. */
export interface NonNullInput {
  readonly kind: 'non-null'
  readonly of: ListInput | NamedInput
  readonly text: string
}

export interface ListInput {
  readonly kind: 'list'
  readonly of: InputType
  readonly text: string
}

export interface ScalarInput {
  readonly kind: 'scalar'
  readonly text: ScalarName
}

export interface EnumInput {
  readonly kind: 'enum'
  readonly text: string
  /** By name: what stands for it, such as a column's name. */
  readonly values: ReadonlyMap<string, string>
  /** It is written into statements. */
  readonly written: boolean
}

export interface FieldsInput {
  readonly kind: 'object'
  readonly text: string
  readonly fields: () => ReadonlyMap<string, FieldInput>
  /** It takes exactly one of them. */
  readonly oneOf: boolean
}

export interface FieldInput {
  readonly type: InputType
  /** Stands for a value that is not given; undefined: nothing does. */
  readonly byDefault: unknown
}

/** A variable of an operation. */
export interface DeclaredVariable {
  readonly name: string
  readonly type: InputType
  /** Stands for a value that is not given; undefined leaves the variable out. */
  readonly byDefault: unknown
  /** Where the document declares it; null: nobody is told. */
  readonly place: { readonly line: number; readonly column: number } | null
}

/** The type without its lists and exclamation marks. */
export const namedInput = (type: InputType): NamedInput =>
  type.kind === 'list' || type.kind === 'non-null' ? namedInput(type.of) : type
