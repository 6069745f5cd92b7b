import type { EntityFacts } from '../../contract/manifest.ts'
import type { OrderDirection } from '../../contract/stated.ts'
import { orderMembers } from '../../engine/input-members.ts'
import { byField, defaultOrderOf } from '../../engine/visible.ts'
import { inputValue, type Args, type Input, isGiven } from './input.ts'
import type { Planner } from './planner.ts'
import type { OrderKey, OrderTerm, Page } from './plan-nodes.ts'
import { badArgument } from '../protocol/failures.ts'
import { decodeCursor, isNullElement, type ElementForm } from './cursors-and-node-ids.ts'
import { elementForm } from './filter.ts'
import type { Value } from './values.ts'

declare module '../../engine/input-members.ts' {
  interface OrderMember {
    /** @param from makes a key of the collection's rows of one of this relation */
    readonly plan: (planner: Planner, input: Input, from: (key: OrderKey) => OrderKey) => readonly OrderTerm[]
  }
}

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
export function planTerms(
  planner: Planner,
  entity: EntityFacts,
  input: Input,
  from: (key: OrderKey) => OrderKey,
): readonly OrderTerm[] {
  if (input.kind !== 'object') return []
  const columns = byField(planner.visible.orderable(entity))
  const members = orderMembers(planner.visible, entity)
  return input.fields.flatMap(([name, value]) => {
    const column = columns.get(name)?.column
    return column === undefined ? (members.get(name)?.plan(planner, value, from) ?? []) : planTerm(from(column), value)
  })
}

export const planTerm = (column: OrderKey, direction: Input): readonly OrderTerm[] => {
  const term = directionOf.get(String(inputValue(direction)))
  return term === undefined ? [] : [{ column, ...term }]
}

/**
 * The checks of spec/graphql.md 5.2, in its order.
 * @param mostElements the maximum for a cursor; elements beyond the order are ignored
 */
export function planPage(
  entity: EntityFacts,
  order: readonly OrderTerm[],
  args: Args,
  mostElements: number = order.length,
): Page {
  const first = count('first', args('first'))
  const last = count('last', args('last'))
  const offset = args('offset')
  count('offset', offset)
  const before = cursor(entity, order, args('before'))
  const after = cursor(entity, order, args('after'))
  if (first !== null && last !== null) throw badArgument('only one of "first" and "last" may be provided')
  if (before !== null && after !== null) throw badArgument('only one of "before" and "after" may be provided')
  if (first !== null && before !== null) throw badArgument('"first" may only be used with "after"')
  if (last !== null && after !== null) throw badArgument('"last" may only be used with "before"')
  const backward = last !== null || before !== null
  if (isGiven(offset) && backward) throw badArgument('"offset" may only be used with "first" and "after"')
  const position = before ?? after
  if (position !== null && position.length > mostElements) {
    throw badArgument('orderBy clause incompatible with pagination cursor')
  }
  const limit = Math.min(first ?? last ?? entity.maxRows, entity.maxRows)
  return {
    limit,
    ...sizedBy(args(first === null ? 'last' : 'first'), limit, entity),
    backward,
    offset: offset.kind === 'leaf' ? { slot: offset.slot, encoding: { kind: 'offset' } } : null,
    cursor: position?.slice(0, order.length) ?? null,
  }
}

function count(name: string, input: Input): number | null {
  if (input.kind !== 'leaf') return null
  const value = Number(input.value)
  if (value < 0) throw badArgument(`\`${name}\` must be an unsigned integer`)
  return value
}

function sizedBy(input: Input, limit: number, { maxRows }: EntityFacts): Pick<Page, 'sizedBy'> {
  if (limit === 0 || input.kind !== 'leaf' || input.slot.kind !== 'variable') return {}
  const [variable = ''] = input.slot.path
  return { sizedBy: { variable: String(variable), most: maxRows } }
}

function cursor(entity: EntityFacts, order: readonly OrderTerm[], input: Input): readonly (Value | null)[] | null {
  if (input.kind !== 'leaf') return null
  const { slot } = input
  const typeAt = order.findIndex(({ column }) => isTypeKey(column))
  return decodeCursor(String(input.value)).map((value, index) => {
    const form = orderedForm(entity, order[index]?.column ?? '')
    // The elements after the name of a type are the key of a row of that type.
    const of = typeAt >= 0 && index > typeAt ? { of: { at: typeAt, name: entity.name } } : {}
    return isNullElement(value, form) ? null : { slot, encoding: { kind: 'cursor', index, form, ...of } }
  })
}

/** The form of this key's value in a cursor. */
const orderedForm = (entity: EntityFacts, key: OrderKey): ElementForm =>
  typeof key === 'string' ? elementForm(entity, key) : key.kind === 'one' ? orderedForm(key.entity, key.of) : 'text'

const isTypeKey = (key: OrderKey): boolean => typeof key !== 'string' && key.kind === 'type'
