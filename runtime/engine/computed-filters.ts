import type { EntityFacts, ValueType } from '../contract/manifest.ts'
import type { RoleVisibility } from './view.ts'
import { byField } from './visible.ts'

/** A computed field with a field in the filter type. */
export interface FilteredComputed {
  readonly function: string
  readonly type: ValueType
}

const logic = ['nodeId', 'and', 'or', 'not']

/**
 * Computed fields that can be filtered (`functionShapes`, spec/graphql.md 17), by field: those that the row type has
 * under that name. Columns and operators keep their names.
 */
export function filterComputed(visible: RoleVisibility, entity: EntityFacts): ReadonlyMap<string, FilteredComputed> {
  if (!entity.computed.some((fn) => fn.filter === true)) return new Map()
  const taken = new Set([...byField(visible.filterable(entity)).keys(), ...logic])
  const shown = new Map(entity.computed.filter((fn) => visible.seesComputed(entity, fn)).map((fn) => [fn.field, fn]))
  const fields = [...shown].flatMap(([name, { id, filter, result }]): (readonly [string, FilteredComputed])[] =>
    filter !== true || result.kind !== 'value' || taken.has(name) || !visible.compares(result.type)
      ? []
      : [[name, { function: id, type: result.type }]],
  )
  return new Map(fields)
}
