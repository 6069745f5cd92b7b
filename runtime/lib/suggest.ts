/** The candidate that a mistyped name most likely meant, or null when none is near. Case is ignored. */
export function suggest(name: string, candidates: readonly string[]): string | null {
  const wanted = name.slice(0, longestCompared).toUpperCase()
  const limit = Math.max(1, Math.floor(wanted.length / 3))
  const near = candidates
    .map((candidate) => ({ candidate, distance: editDistance(wanted, candidate.toUpperCase()) }))
    .filter(({ distance }) => distance <= limit)
    .sort((a, b) => a.distance - b.distance)
  return near[0]?.candidate ?? null
}

/** Longer names are cut: the cost grows with the square of the length. */
const longestCompared = 64

/** Levenshtein's distance: how many insertions, deletions and replacements turn one text into the other. */
function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const current = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      current.push(Math.min(replaced, (previous[j] ?? 0) + 1, (current[j - 1] ?? 0) + 1))
    }
    previous = current
  }
  return previous[b.length] ?? 0
}
