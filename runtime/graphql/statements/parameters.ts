import type { Printed } from '../../sql/print.ts'
import { parameter as parameterNode, type Parameter } from '../../sql/tree.ts'
import { refuse } from '../protocol/failures.ts'
import type { Value } from '../plan/values.ts'

/** A value of the plan as a parameter; statements are given no others. */
export const valueParameter = (value: Value): Parameter => parameterNode(value)

/** A Bind message counts its values in 16 bits (PostgreSQL manual 54.7). */
const maxValues = 65_535

/** The values of a statement. @throws Refusal when there are more than one statement can be given */
export function valuesOf({ values }: Printed): readonly Value[] {
  if (values.length > maxValues) {
    throw refuse(
      'DOCUMENT_TOO_LARGE',
      `The request holds more than ${maxValues} values; send lists of values or several requests.`,
    )
  }
  return values as readonly Value[]
}
