import type { Value } from '../plan/types.ts'

/** Collects the values of one statement; a value that is used twice is sent once per way of reading it. */
export interface Parameters {
  /** The placeholder of a value: `$3`. */
  readonly add: (value: Value) => string
  readonly values: readonly Value[]
}

export function createParameters(): Parameters {
  const values: Value[] = []
  return {
    values,
    add: (value) => {
      values.push(value)
      return `$${values.length}`
    },
  }
}
