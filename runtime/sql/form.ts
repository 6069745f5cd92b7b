import type { ExtensionName } from '../contract/filter-forms.ts'
import type { ScalarName } from '../contract/scalar-names.ts'
import type { OperatorName } from './operators.ts'

/** A filter of values from an addition: the operands of its operators, and their SQL. */
export interface Form {
  /** The name of the value in a description. */
  readonly subject: string
  /** The common operators of all types with these values, and the scalar of their operands. */
  readonly usual: readonly OperatorName[]
  readonly scalar: ScalarName
  /** The type that values are read as and operands cast to, if it is not their own. */
  readonly readAs?: string
  readonly own: Readonly<Record<string, FormOperator>>
}

export interface FormOperator {
  readonly help: string
  readonly takes: ScalarName
  readonly list?: true
  /** The operand is an object of a text and, optionally, a second value. */
  readonly members?: OperandMembers
  /** The cast of the operand; absent: that of the common operators. */
  readonly cast?: string
  /** An operator of an extension, whose quoted schema `render` gets; its operand has no cast. */
  readonly extension?: ExtensionName
  /** A condition of complete expressions; `beside` only if a second operand is given. */
  readonly render: (value: string, operand: string, beside?: string, home?: string) => string
}

export interface OperandMembers {
  readonly type: 'JSONPathQuery' | 'SearchQuery'
  readonly names: readonly [operand: string, beside: string]
  /** The cast of the second value. */
  readonly besideAs: string
  /** Whether that is a name, which is part of the statement if the document gives it literally. */
  readonly isName?: true
}

/** An infix operator. */
export const infix =
  (symbol: string): FormOperator['render'] =>
  (value, operand) =>
    `${value} ${symbol} ${operand}`
