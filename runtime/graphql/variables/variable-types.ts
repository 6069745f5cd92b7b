import type { ScalarName } from '../../contract/scalar-names.ts'

/**
 * The type of a variable as plain data: enough to read values without a schema. Types are recursive (a filter contains
 * filters), so an object's fields are made on first use.
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
  /** By name: the value, such as a column's name. */
  readonly values: ReadonlyMap<string, string>
  /** It is written into statements. */
  readonly written: boolean
}

export interface FieldsInput {
  readonly kind: 'object'
  readonly text: string
  readonly fields: () => ReadonlyMap<string, FieldInput>
  /** Exactly one of the members must be given. */
  readonly oneOf: boolean
}

export interface FieldInput {
  readonly type: InputType
  /** The default; undefined: none. */
  readonly byDefault: unknown
}

/** A variable of an operation. */
export interface DeclaredVariable {
  readonly name: string
  readonly type: InputType
  /** The default; undefined leaves the variable out. */
  readonly byDefault: unknown
  /** Its position in the document; null: not shown. */
  readonly place: { readonly line: number; readonly column: number } | null
}

/** The type without its lists and exclamation marks. */
export const namedInput = (type: InputType): NamedInput =>
  type.kind === 'list' || type.kind === 'non-null' ? namedInput(type.of) : type
