import { createHash } from 'node:crypto'

/** Surrogates: without them, JavaScript orders as UTF-8 does. */
const beyond = /[\ud800-\udfff]/

/** Orders texts by their UTF-8 bytes, as Postgres' "C" collation does; JavaScript's own order differs beyond U+FFFF. */
export function compareBytes(a: string, b: string): number {
  if (a === b) return 0
  if (!beyond.test(a) && !beyond.test(b)) return a < b ? -1 : 1
  return Buffer.compare(Buffer.from(a, 'utf8'), Buffer.from(b, 'utf8'))
}

interface Named {
  readonly schema: string
  readonly name: string
}

export const bySchemaAndName = (a: Named, b: Named): number =>
  compareBytes(a.schema, b.schema) || compareBytes(a.name, b.name)

/** SHA-256 (FIPS 180-4) of the bytes, those of a text in UTF-8, as 64 lower-case hex digits. */
export function sha256Hex(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex')
}

/** The candidate that a mistyped name most likely meant, or null. Case is ignored. */
export function suggest(name: string, candidates: readonly string[]): string | null {
  const wanted = name.slice(0, longestCompared).toUpperCase()
  const limit = Math.max(1, Math.floor(wanted.length / 3))
  const near = candidates
    // Each further letter is one insertion.
    .filter((candidate) => Math.abs(candidate.length - wanted.length) <= limit)
    .map((candidate) => ({ candidate, distance: editDistance(wanted, candidate.toUpperCase()) }))
    .filter(({ distance }) => distance <= limit)
    .sort((a, b) => a.distance - b.distance)
  return near[0]?.candidate ?? null
}

/** The end of a sentence about an unknown name with a suggestion; empty without one. */
export function didYouMean(name: string, candidates: readonly string[], written = (near: string) => near): string {
  const near = suggest(name, candidates)
  return near === null ? '' : `; did you mean ${written(near)}?`
}

/** Longer names are cut: the cost grows with the square of the length. */
const longestCompared = 64

/**
 * The number of insertions, deletions, replacements and swaps of neighbours between two texts (the optimal string
 * alignment distance). Cell [i][j] compares the first i characters of one with the first j of the other.
 */
function editDistance(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, j) => j)]
  const cell = (i: number, j: number): number => rows[i]?.[j] ?? Number.POSITIVE_INFINITY
  for (let i = 1; i <= a.length; i++) {
    const row = (rows[i] = [i])
    for (let j = 1; j <= b.length; j++) {
      const replaced = cell(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1)
      const swapped = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? cell(i - 2, j - 2) + 1 : Number.POSITIVE_INFINITY
      row.push(Math.min(replaced, swapped, cell(i - 1, j) + 1, cell(i, j - 1) + 1))
    }
  }
  return cell(a.length, b.length)
}

/** The message of a thrown value. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
