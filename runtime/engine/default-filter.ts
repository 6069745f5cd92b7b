import type { DefaultFilterFacts, EntityFacts } from '../contract/manifest.ts'
import type { RoleVisibility } from './view.ts'
import { byField } from './visible/columns.ts'

interface DefaultCondition extends DefaultFilterFacts {
  readonly field: string
}

/** The conditions on a relation's collections where none are given (spec/graphql.md 17.5), on what the role can filter by. */
export function defaultFilterOf(visible: RoleVisibility, entity: EntityFacts): readonly DefaultCondition[] {
  const { defaultFilter } = entity
  if (defaultFilter === undefined) return []
  const fields = [...byField(visible.filterable(entity))]
  return defaultFilter.flatMap((facts) =>
    fields.flatMap(([field, { column, type }]) => {
      const item = type?.kind === 'enum' ? visible.enum(type.id) : undefined
      const isOpaque = item !== undefined && !visible.names.ownsEnum(item) && facts.operator !== 'is'
      return column === facts.column && !isOpaque ? [{ ...facts, field }] : []
    }),
  )
}
