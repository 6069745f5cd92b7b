import type { ColumnFacts, EntityFacts } from '../../contract/manifest.ts'
import type { PresetPlace } from '../../engine/visible.ts'
import type { Planner } from './planner.ts'
import type { Encoding } from './values.ts'

export const encodingOf = (column: ColumnFacts): Encoding =>
  column.type?.list === true ? { kind: 'array', maxLength: null } : { kind: 'scalar', maxLength: column.maxLength }

/** The values that the owner sets in the role's rows; absent if there are none. */
export function presetsOf(
  { visible }: Pick<Planner, 'visible'>,
  entity: EntityFacts,
  command: 'insert' | 'update',
): { readonly presets?: readonly PresetPlace[] } {
  const presets = visible.presets(entity, command)
  return presets.length === 0 ? {} : { presets }
}

export function columnNamed(inputs: ReadonlyMap<string, ColumnFacts>, field: string): ColumnFacts {
  const column = inputs.get(field)
  if (column === undefined) throw new Error(`no column takes the input ${field}`)
  return column
}
