import { isJsonObject } from '../../lib/json.ts'
import { namedInput, type InputType } from './variable-types.ts'

/** Suffixes of type names whose values have ordered members. */
const inOrder = ['OrderBy', 'GroupBy', 'Order']

/**
 * Coercion sorts an object's members by their type; in an order they count in the given order (spec/graphql.md 5.4).
 * Values of other types stay unchanged.
 */
export const inGivenOrder = (type: InputType, coerced: unknown, given: unknown): unknown =>
  readsOrder(type) ? asGiven(coerced, given) : coerced

export const readsOrder = (type: InputType): boolean => {
  const { text } = namedInput(type)
  return inOrder.some((part) => text.endsWith(part))
}

function asGiven(coerced: unknown, given: unknown): unknown {
  if (Array.isArray(coerced)) {
    const items: readonly unknown[] = Array.isArray(given) ? given : [given]
    return coerced.map((item, index) => asGiven(item, items[index]))
  }
  if (!isJsonObject(coerced) || !isJsonObject(given)) return coerced
  return Object.fromEntries(Object.keys(given).map((name) => [name, asGiven(coerced[name], given[name])]))
}
