import type { EntityFacts } from '../../../runtime/contract/manifest.ts'
import type { SchemaAddition } from '../../../runtime/engine/additions.ts'
import type { FilterMember } from '../../../runtime/engine/input-members.ts'
import { filterType } from '../../../runtime/engine/schema/collections.ts'
import type { RoleVisibility } from '../../../runtime/engine/view.ts'
import { comparedAs, planValue } from '../../../runtime/graphql/plan/conditions.ts'

/** Computed fields that the row type has under their names. */
function filterMembers(visible: RoleVisibility, entity: EntityFacts): readonly (readonly [string, FilterMember])[] {
  if (!entity.computed.some((fn) => fn.filter === true)) return []
  const shown = new Map(entity.computed.filter((fn) => visible.seesComputed(entity, fn)).map((fn) => [fn.field, fn]))
  return [...shown].flatMap(([name, { id, filter, result }]): (readonly [string, FilterMember])[] => {
    if (filter !== true || result.kind !== 'value' || !visible.compares(result.type)) return []
    const { type } = result
    const member: FilterMember = {
      input: (types) => ({ type: filterType(visible, name, type, types), description: `Conditions on ${name}.` }),
      plan: (_, input) => planValue(comparedAs(visible, { computed: id }, type), input),
    }
    return [[name, member]]
  })
}

export const functionShapes: SchemaAddition = { name: 'functionShapes', filterMembers }
