import type { EntityFacts, OrderDirection } from '../contract/manifest.ts'
import type { RoleVisibility } from './view.ts'
import { byField } from './visible/columns.ts'

/** The order of a relation's collections where none is given (spec/graphql.md 17.5): the fields that the role can sort by. */
export function defaultOrderOf(
  visible: RoleVisibility,
  entity: EntityFacts,
): readonly (readonly [field: string, direction: OrderDirection])[] {
  const { defaultOrder } = entity
  if (defaultOrder === undefined) return []
  const fields = [...byField(visible.orderable(entity))]
  return defaultOrder.flatMap(({ column, direction }) => {
    const found = fields.find(([, facts]) => facts.column === column)
    return found === undefined ? [] : [[found[0], direction] as const]
  })
}
