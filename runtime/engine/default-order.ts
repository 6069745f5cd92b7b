import type { EntityFacts } from '../contract/manifest.ts'
import type { DefaultOrderFacts } from '../contract/stated.ts'
import type { RoleVisibility } from './view.ts'
import { byField } from './visible.ts'

interface DefaultOrder extends DefaultOrderFacts {
  readonly field: string
}

/** The default order of a relation's collections (spec/graphql.md 17.5): the fields that the role can sort by. */
export function defaultOrderOf(visible: RoleVisibility, entity: EntityFacts): readonly DefaultOrder[] {
  const { defaultOrder } = entity
  if (defaultOrder === undefined) return []
  const fields = [...byField(visible.orderable(entity))]
  return defaultOrder.flatMap((facts) =>
    fields.flatMap(([field, { column }]) => (column === facts.column ? [{ ...facts, field }] : [])),
  )
}
