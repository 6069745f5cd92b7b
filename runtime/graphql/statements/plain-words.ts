import { arrayText } from '../../sql/array-text.ts'
import { literal } from '../../sql/literal.ts'
import type { Sql } from '../../sql/tree.ts'
import type { Slot, Value } from '../plan/values.ts'
import { valueParameter } from './parameters.ts'

/** Words that a document gives literally are part of the statement if an index on an expression requires that. */

/** A value that is sent beside a document is excluded: each would give another statement. */
export const isPlainWord = (slot: Slot): slot is Slot & { readonly value: string } =>
  slot.kind === 'constant' && slot.sent !== true && typeof slot.value === 'string' && /^[\w-]{1,63}$/.test(slot.value)

export const nameOrParameter = (value: Value): Sql => {
  const { slot } = value
  return isPlainWord(slot) ? literal(slot.value) : valueParameter(value)
}

/** A value of a comment is part of the statement: a partial index then serves every plan, also a generic one. */
export const statedOrParameter = (value: Value): Sql => {
  const { slot } = value
  if (slot.kind !== 'constant' || slot.stated !== true) return valueParameter(value)
  return literal(Array.isArray(slot.value) ? arrayText(slot.value.map(String)) : String(slot.value))
}
