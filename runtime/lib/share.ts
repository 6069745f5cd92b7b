/** Whether two values are equal JSON, member by member in the same order. */
export const sameJson = (a: unknown, b: unknown): boolean => isSame(a, b) || JSON.stringify(a) === JSON.stringify(b)

/**
 * Whether two values are identical. In V8 `===` also reads an identical object to exclude NaN; for thousands of them
 * that waits for memory.
 */
export const isSame: (a: unknown, b: unknown) => boolean = Object.is

/** Whether two lists have identical items. */
export function sameItems(a: readonly unknown[], b: readonly unknown[]): boolean {
  if (a === b) return true
  if (a.length !== b.length) return false
  for (let index = 0; index < a.length; index += 1) if (!isSame(a[index], b[index])) return false
  return true
}

/**
 * `now`, with every object and list that equals its counterpart in `before` replaced by that one, so that results
 * cached by identity are found again.
 */
export function share<T>(before: unknown, now: T): T {
  if (before === now || typeof now !== 'object' || now === null || typeof before !== 'object' || before === null)
    return now
  if (Array.isArray(now)) return (Array.isArray(before) ? shareItems(before, now) : now) as T
  const names = Object.keys(now)
  if (Array.isArray(before) || !sameItems(Object.keys(before), names)) return now
  const values = Object.values(before)
  const shared = shareItems(values, Object.values(now))
  return (shared === values ? before : Object.fromEntries(names.map((name, index) => [name, shared[index]]))) as T
}

function shareItems(before: readonly unknown[], now: readonly unknown[]): readonly unknown[] {
  const shared = now.map((item, index) => share(before[index], item))
  return sameItems(before, shared) ? before : shared
}
