import type { EntityFacts } from '../../contract/manifest.ts'
import { badArgument } from '../protocol/failures.ts'
import { decodeCursor, isNullElement, type ElementForm } from './cursors-and-node-ids.ts'
import { elementForm } from './filter.ts'
import { isGiven, type Input } from './input.ts'
import type { OrderKey, OrderTerm, Page } from './plan-nodes.ts'
import type { Value } from './values.ts'

type Args = (name: string) => Input

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
