/** Adds to the count of a key, and returns it; a count of zero has no entry. */
export function addToCount(counts: Map<string, number>, key: string, change: number): number {
  const now = (counts.get(key) ?? 0) + change
  if (now === 0) counts.delete(key)
  else counts.set(key, now)
  return now
}
