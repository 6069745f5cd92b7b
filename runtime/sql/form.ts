import type { FormNames } from '../contract/name-parts.ts'
import type { ScalarName } from '../contract/scalar-names.ts'
import type { CountedElements, OperatorName } from './operators.ts'

/** A form of values whose filter an addition defines (spec/graphql.md 17): its operators, their operands and their SQL. */
export interface Form extends FormNames {
  /** The comment keys that enable it, all of them together. */
  readonly keys: readonly string[]
  readonly pgTypes?: readonly string[]
  /** Its values are lists whose filter has common operators. */
  readonly lists?: true
  /** The extension with a type of its values, in any schema; absent: built in. */
  readonly extension?: Readonly<Record<'name' | 'type', string>>
  /** The extension whose operators it has in addition, if installed, and a type by which it is found. */
  readonly optional?: Readonly<Record<'name' | 'type', string>>
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
  /** The operand is compared element by element. */
  readonly counted?: CountedElements
  /** The operand is an object of a text and, optionally, a second value. */
  readonly members?: OperandMembers
  /** The cast of the operand; absent: that of the common operators. */
  readonly cast?: string
  /** An operator of an extension, whose quoted schema `render` gets; its operand has no cast. */
  readonly extension?: string
  /** A condition of complete expressions; `beside` only if a second operand is given. */
  readonly render: (value: string, operand: string, beside?: string, home?: string) => string
}

export interface OperandMembers {
  /** The name of its input type, one of those of the form. */
  readonly type: string
  readonly names: readonly [operand: string, beside: string]
  /** The cast of the second value. */
  readonly besideAs: string
  /** Whether that is a name, which is part of the statement if the document gives it literally. */
  readonly isName?: true
}

export const infix = (symbol: string, help: string, takes: ScalarName, cast?: string): FormOperator => ({
  help,
  takes,
  ...(cast !== undefined && { cast }),
  render: (value, operand) => `${value} ${symbol} ${operand}`,
})

/** The forms of additions by name, each with the operators of the form that it is combined with. */
export function formsOf<Of extends Form>(
  additions: readonly { readonly forms?: readonly Of[] }[],
): ReadonlyMap<string, Of> {
  const named = new Map(additions.flatMap(({ forms = [] }) => forms.map((form) => [form.name, form])))
  const found = [...named].map(([name, form]) => [name, withOther(form, named)] as const)
  return new Map(found.flatMap(([name, form]) => (form === undefined ? [] : [[name, form]])))
}

function withOther<Of extends Form>(form: Of, named: ReadonlyMap<string, Of>): Of | undefined {
  const other = form.also === undefined ? undefined : named.get(form.also)
  if (other === undefined) return form.also === undefined ? form : undefined
  return { ...form, keys: [...other.keys, ...form.keys], own: { ...other.own, ...form.own } }
}
