import { arrayText } from '../../sql/array-text.ts'
import { literal } from '../../sql/literal.ts'
import type { Sql } from '../../sql/tree.ts'
import type { Slot, Value } from '../plan/values.ts'
import { valueParameter } from './parameters.ts'

/** Words that a document spells out are a part of the statement where an index on an expression wants them there. */

/** What is sent beside a document is none: each value of it would be another statement. */
export const isPlainWord = (slot: Slot): slot is Slot & { readonly value: string } =>
  slot.kind === 'constant' && slot.sent !== true && typeof slot.value === 'string' && /^[\w-]{1,63}$/.test(slot.value)

export const nameOrParameter = (value: Value): Sql => {
  const { slot } = value
  return isPlainWord(slot) ? literal(slot.value) : valueParameter(value)
}

/** What a comment states is a part of the statement: a partial index serves every plan then, also one for all parameters. */
export const statedOrParameter = (value: Value): Sql => {
  const { slot } = value
  if (slot.kind !== 'constant' || slot.stated !== true) return valueParameter(value)
  return literal(Array.isArray(slot.value) ? arrayText(slot.value.map(String)) : String(slot.value))
}
