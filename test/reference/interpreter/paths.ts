import type { Json, Value } from './world.ts'

/** Paths of labels like ltree (Postgres manual F.22), and the operators of `ltreeFilters`. */

const labelsOf = (path: string): readonly string[] => (path === '' ? [] : path.split('.'))

/** Label by label; a prefix comes first. */
export function comparePaths(left: string, right: string): number {
  const [a, b] = [labelsOf(left), labelsOf(right)]
  const differs = a.findIndex((label, index) => label !== b[index])
  if (differs < 0 || differs >= b.length) return a.length - b.length
  return (a[differs] ?? '') < (b[differs] ?? '') ? -1 : 1
}

const begins = (path: readonly string[], with_: readonly string[]): boolean =>
  with_.every((label, index) => path[index] === label)

/** `*` matches any labels, `*{n}` so many, and `a|b` one of these. */
function isMatch(labels: readonly string[], [level, ...rest]: readonly string[]): boolean {
  if (level === undefined) return labels.length === 0
  const [, count] = /^\*(?:\{(\d+)\})?$/.exec(level) ?? []
  if (count !== undefined) return labels.length >= Number(count) && isMatch(labels.slice(Number(count)), rest)
  if (level === '*') return labels.some((_, index) => isMatch(labels.slice(index), rest)) || isMatch([], rest)
  return level.split('|').includes(labels[0] ?? '') && isMatch(labels.slice(1), rest)
}

/** Words with `!` before them and `&` or `|` between two. */
function hasLabels(labels: readonly string[], query: string): boolean {
  if (query.includes('|')) return query.split('|').some((part) => hasLabels(labels, part))
  return query.split('&').every((part) => {
    const [, not = '', label = ''] = /^\s*(!?)\s*(\w+)\s*$/.exec(part) ?? []
    return labels.includes(label) === (not === '')
  })
}

const listOf = (input: Json): readonly string[] => (Array.isArray(input) ? input : [input]).map(String)

const meets: Readonly<Record<string, (labels: readonly string[], input: Json) => boolean>> = {
  ancestorOf: (labels, input) => begins(labelsOf(String(input)), labels),
  descendantOf: (labels, input) => begins(labels, labelsOf(String(input))),
  matches: (labels, input) => isMatch(labels, labelsOf(String(input))),
  matchesAny: (labels, input) => listOf(input).some((query) => isMatch(labels, labelsOf(query))),
  matchesText: (labels, input) => hasLabels(labels, String(input)),
  depth: (labels, input) => labels.length === input,
}

export const pathOperators = ['eq', 'in', 'is', 'neq', ...Object.keys(meets)]

/** Whether a value meets a condition; undefined for an operator that is not the paths' own. */
export function readPathOperator(operator: string, input: Json): ((value: Value) => boolean | null) | undefined {
  const isMet = meets[operator]
  return isMet && ((value) => (value === null ? null : isMet(labelsOf(String(value)), input)))
}
