import { atOnce, type Steps } from './steps.ts'

/** The items under the key of each, in order; Node 21 has Map.groupBy (ECMAScript 2024). */
export const groupBy = <K, T>(items: readonly T[], keyOf: (item: T) => K): ReadonlyMap<K, readonly T[]> =>
  atOnce(groupInSteps(items, keyOf))

/** Items per step, which are only looked at. */
const stride = 256

export function* groupInSteps<K, T>(items: readonly T[], keyOf: (item: T) => K): Steps<ReadonlyMap<K, readonly T[]>> {
  const groups = new Map<K, T[]>()
  for (const [place, item] of items.entries()) {
    const key = keyOf(item)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [item])
    else group.push(item)
    if (place % stride === 0) yield
  }
  return groups
}
