import type { ColumnFacts } from '../../contract/manifest.ts'
import type { Encoding } from './types.ts'

/** Columns of inputs, and how their values travel. */

export const encodingOf = (column: ColumnFacts): Encoding =>
  column.type?.list === true ? { kind: 'array', maxLength: null } : { kind: 'scalar', maxLength: column.maxLength }

export function columnNamed(inputs: ReadonlyMap<string, ColumnFacts>, field: string): ColumnFacts {
  const column = inputs.get(field)
  if (column === undefined) throw new Error(`no column takes the input ${field}`)
  return column
}
