import type { EntityFacts } from '../../contract/manifest.ts'
import type { OrderDirection } from '../../contract/stated.ts'
import { defaultOrderOf } from '../../engine/default-order.ts'
import { orderRelations, type Related } from '../../engine/related.ts'
import { rankFields } from '../../engine/searches.ts'
import { byField } from '../../engine/visible/columns.ts'
import { memberOf, inputValue, type Input } from './input.ts'
import { joinTo, keyThere } from './joins.ts'
import type { Planner } from './planner.ts'
import { planRank } from './search.ts'
import type { OrderKey, OrderTerm } from './plan-nodes.ts'

const directions: Readonly<Record<OrderDirection, Omit<OrderTerm, 'column'>>> = {
  AscNullsFirst: { descending: false, nullsFirst: true },
  AscNullsLast: { descending: false, nullsFirst: false },
  DescNullsFirst: { descending: true, nullsFirst: true },
  DescNullsLast: { descending: true, nullsFirst: false },
}
const directionOf: ReadonlyMap<string, Omit<OrderTerm, 'column'>> = new Map(Object.entries(directions))

/**
 * The given order, or else that of the relation's comment (spec/graphql.md 17.5), followed by the key (spec/graphql.md
 * 5.4): cursors contain the key's values even if it was named before.
 */
export function planOrder(planner: Planner, entity: EntityFacts, input: Input): readonly OrderTerm[] {
  const objects = input.kind === 'list' ? input.items : []
  const asked =
    input.kind === 'absent'
      ? planDefault(planner, entity)
      : objects.flatMap((object) => planTerms(planner, entity, object, asItIs))
  return [...asked, ...planKey(entity)]
}

/** The order of rows of several relations: without a default, with the type before the key (spec/graphql.md 17.9). */
export function planTypedOrder(planner: Planner, entity: EntityFacts, input: Input): readonly OrderTerm[] {
  const asked = input.kind === 'list' ? input.items.flatMap((object) => planTerms(planner, entity, object, asItIs)) : []
  const type = { column: { kind: 'type', name: entity.name }, descending: false, nullsFirst: false } as const
  return [...asked, type, ...planKey(entity)]
}

const planKey = (entity: EntityFacts): readonly OrderTerm[] =>
  entity.key.map((column) => ({ column, descending: false, nullsFirst: false }))

const asItIs = (key: OrderKey): OrderKey => key

const planDefault = ({ visible }: Planner, entity: EntityFacts): readonly OrderTerm[] =>
  defaultOrderOf(visible, entity).map(({ column, direction }) => ({ column, ...directions[direction] }))

/** @param from makes a key of the collection's rows of one of this relation */
function planTerms(
  planner: Planner,
  entity: EntityFacts,
  input: Input,
  from: (key: OrderKey) => OrderKey,
): readonly OrderTerm[] {
  if (input.kind !== 'object') return []
  const columns = byField(planner.visible.orderable(entity))
  const relations = orderRelations(planner.visible, entity)
  const ranks = rankFields(planner.visible, entity)
  return input.fields.flatMap(([name, value]) => {
    const column = columns.get(name)?.column
    if (column !== undefined) return planTerm(from(column), value)
    const related = relations.get(name)
    if (related !== undefined) return planRelatedOrder(planner, related, value, from)
    const searched = ranks.get(name)
    if (searched === undefined || value.kind !== 'object') return []
    return planTerm(from(planRank(searched, value)), memberOf(value, 'direction'))
  })
}

export const planTerm = (column: OrderKey, direction: Input): readonly OrderTerm[] => {
  const term = directionOf.get(String(inputValue(direction)))
  return term === undefined ? [] : [{ column, ...term }]
}

function planRelatedOrder(
  planner: Planner,
  related: Related,
  input: Input,
  from: (key: OrderKey) => OrderKey,
): readonly OrderTerm[] {
  if (input.kind !== 'object') return []
  planner.countRelated()
  const { relation, target } = related
  if (relation.shape === 'many') {
    const count = from({ kind: 'count', entity: target, join: joinTo(planner, related) })
    return input.fields.flatMap(([, direction]) => planTerm(count, direction))
  }
  const there = keyThere(planner, related)
  return planTerms(planner, target, input, (key) => from(there(key)))
}
