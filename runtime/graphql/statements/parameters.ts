import type { Printed } from '../../sql/print.ts'
import { parameter as parameterNode, sql, type Parameter, type Sql } from '../../sql/tree.ts'
import { refuse } from '../protocol/failures.ts'
import type { Page } from '../plan/plan-nodes.ts'
import type { Value } from '../plan/values.ts'

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
