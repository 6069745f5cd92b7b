import { refuse } from '../protocol/failures.ts'
import type { Value } from '../plan/types.ts'

/** Collects the values of one statement. */
export interface Parameters {
  /** The placeholder of a value: `$3`. @throws Refusal when there are more values than one statement can be given */
  readonly add: (value: Value) => string
  readonly values: readonly Value[]
}

/** A Bind message counts its values in 16 bits (PostgreSQL manual 54.7). */
const maxValues = 65_535

export function createParameters(): Parameters {
  const values: Value[] = []
  return {
    values,
    add: (value) => {
      if (values.length === maxValues) {
        throw refuse(
          'DOCUMENT_TOO_LARGE',
          `The request holds more than ${maxValues} values; send lists of values or several requests.`,
        )
      }
      values.push(value)
      return `$${values.length}`
    },
  }
}
