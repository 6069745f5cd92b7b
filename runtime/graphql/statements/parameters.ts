import type { Printed } from '../../sql/print.ts'
import { parameter as parameterNode, sql, type Parameter, type Sql, literal } from '../../sql/tree.ts'
import { refuse } from '../protocol/failures.ts'
import type { Page } from '../plan/plan-nodes.ts'
import type { Value, Slot } from '../plan/values.ts'
import { arrayText } from '../../sql/array-text.ts'
import type { PreparedText } from '../../contract/execution.ts'
import { sha256Hex } from '../../lib/text.ts'

/** A value of the plan as a parameter; statements have no other parameters. */
export const valueParameter = (value: Value): Parameter => parameterNode(value)

/** The maximum number of rows of a page, plus `plus`. */
export const rowsOnPage = ({ limit, sizedBy }: Pick<Page, 'limit' | 'sizedBy'>, plus = 0): Sql =>
  sizedBy === undefined ? sql`${limit + plus}` : { kind: 'size', rows: limit + plus, hole: { ...sizedBy, plus } }

/** A Bind message counts its values in 16 bits (PostgreSQL manual 54.7). */
const maxValues = 65_535

/** The values of a statement. @throws Refusal if there are too many for one statement */
export function valuesOf({ values }: Printed): readonly Value[] {
  if (values.length > maxValues) {
    throw refuse(
      'DOCUMENT_TOO_LARGE',
      `The request holds more than ${maxValues} values; send lists of values or several requests.`,
    )
  }
  return values as readonly Value[]
}

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

/** The role is part of the name: a plan under row-level security belongs to its role. */
export const named = <Text extends string>(role: string, text: Text): PreparedText<Text> => ({
  name: `cg${sha256Hex(`${role}\0${text}`).slice(0, 32)}`,
  text,
})
