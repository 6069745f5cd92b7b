import type { ExtensionName } from '../contract/filter-forms.ts'
import type { ScalarName } from '../contract/scalar-names.ts'
import type { OperatorName } from './operators.ts'

/** A filter of values that an addition brings: what its operators take, and their SQL. */
export interface Form {
  /** What is compared, in a description. */
  readonly subject: string
  /** Operators of all types that these values have, and the scalar of their operands. */
  readonly usual: readonly OperatorName[]
  readonly scalar: ScalarName
  /** What values are read as and such operands cast to, where that is not their own type. */
  readonly readAs?: string
  readonly own: Readonly<Record<string, FormOperator>>
}

export interface FormOperator {
  readonly help: string
  readonly takes: ScalarName
  readonly list?: true
  /** The operand is an object of a text and, if wanted, a value beside it. */
  readonly members?: OperandMembers
  /** What the operand is cast to; absent: what those of the usual operators are. */
  readonly cast?: string
  /** It is the operator of an extension, whose quoted schema `render` is given; its operand is cast to nothing. */
  readonly extension?: ExtensionName
  /** A condition of finished expressions; `beside` only where a second operand is given. */
  readonly render: (value: string, operand: string, beside?: string, home?: string) => string
}

export interface OperandMembers {
  readonly type: 'JSONPathQuery' | 'SearchQuery'
  readonly names: readonly [operand: string, beside: string]
  /** What the value beside it is cast to. */
  readonly besideAs: string
  /** Whether that is a name, which stands in the statement where the document spells it out. */
  readonly isName?: true
}

/** An operator between both. */
export const infix =
  (symbol: string): FormOperator['render'] =>
  (value, operand) =>
    `${value} ${symbol} ${operand}`
