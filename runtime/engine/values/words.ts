import { isDecimal } from '../../lib/json.ts'

/**
 * Words of graphql-js about values (graphql-js 16: jsutils/inspect, suggestionList, didYouMean), for code without it.
 * `test/runtime/graphql/variables.test.ts` compares both.
 */

const longestList = 10
const deepest = 2

/** In characters. A longer value or name is cut, which graphql-js does not: an answer never repeats its request. */
const longestShown = 300

/** A name or text of a request in a sentence. */
export const cut = (text: string): string => (text.length > longestShown ? `${text.slice(0, longestShown)}…` : text)

/** A value in a sentence: JSON values, and bigints. */
export const inspect = (value: unknown): string => cut(print(value, 1))

const print = (value: unknown, depth: number): string => {
  if (typeof value === 'string') return JSON.stringify(cut(value))
  if (typeof value !== 'object' || value === null || isDecimal(value)) return cut(String(value))
  return Array.isArray(value) ? printList(value, depth) : printObject(value, depth)
}

function printList(list: readonly unknown[], depth: number): string {
  if (list.length === 0) return '[]'
  if (depth > deepest) return '[Array]'
  const shown = list.slice(0, longestList).map((item) => print(item, depth + 1))
  const more = list.length - shown.length
  return `[${[...shown, ...(more === 0 ? [] : [`... ${more} more item${more === 1 ? '' : 's'}`])].join(', ')}]`
}

function printObject(object: object, depth: number): string {
  const names = Object.keys(object)
  if (names.length === 0) return '{}'
  if (depth > deepest) return '[Object]'
  const members: string[] = []
  let length = 0
  for (const name of names) {
    if (length > longestShown) break
    const member = `${cut(name)}: ${print((object as Record<string, unknown>)[name], depth + 1)}`
    members.push(member)
    length += member.length
  }
  return `{ ${members.join(', ')} }`
}

const mostSuggestions = 5

/** @param what the kind of the names */
export function meantNames(name: string, candidates: readonly string[], what = ''): string {
  const near = nearest(name, candidates).map((candidate) => `"${candidate}"`)
  if (near.length === 0) return ''
  const shown = near.slice(0, near.length > 2 ? mostSuggestions : 2)
  const last = shown.pop() ?? ''
  const others = shown.length === 0 ? '' : `${shown.join(', ')}${near.length > 2 ? ',' : ''} or `
  return ` Did you mean ${what}${others}${last}?`
}

function nearest(name: string, candidates: readonly string[]): readonly string[] {
  const threshold = Math.floor(name.length * 0.4) + 1
  return candidates
    .map((candidate) => ({ candidate, distance: distanceOf(name, candidate, threshold) }))
    .filter(({ distance }) => distance <= threshold)
    .sort((a, b) => a.distance - b.distance || naturally(a.candidate, b.candidate))
    .map(({ candidate }) => candidate)
}

/** The edit distance, in which a difference in case counts as one; some number above the threshold if it is larger. */
function distanceOf(name: string, candidate: string, threshold: number): number {
  if (name === candidate) return 0
  const [a, b] = [candidate.toLowerCase(), name.toLowerCase()]
  if (a === b) return 1
  if (Math.abs(a.length - b.length) > threshold) return Number.POSITIVE_INFINITY
  let [before, above] = [[] as number[], Array.from({ length: b.length + 1 }, (_, place) => place)]
  const at = (row: readonly number[], place: number): number => row[place] ?? Number.POSITIVE_INFINITY
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i]
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = at(above, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1)
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      const swapped = isSwap ? at(before, j - 2) + 1 : Number.POSITIVE_INFINITY
      row.push(Math.min(replaced, swapped, at(above, j) + 1, at(row, j - 1) + 1))
    }
    if (Math.min(...row) > threshold) return Number.POSITIVE_INFINITY
    ;[before, above] = [above, row]
  }
  return at(above, b.length)
}

/** Compares numbers within names by value. */
function naturally(a: string, b: string): number {
  const [left, right] = [a.match(/\d+|\D/g) ?? [], b.match(/\d+|\D/g) ?? []]
  for (const [place, one] of left.entries()) {
    const other = right[place]
    if (other === undefined) break
    const areNumbers = /\d/.test(one) && /\d/.test(other)
    const difference = areNumbers ? Number(one) - Number(other) : one.charCodeAt(0) - other.charCodeAt(0)
    if (difference !== 0) return difference
  }
  return a.length - b.length
}
