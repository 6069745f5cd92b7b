import type { Json } from './interpreter/world.ts'
import { apartTexts, shortened } from './texts-apart.ts'

/** The first difference of two answers, or null. Members must come in the same order, too. */
export function difference(
  expected: Json,
  actual: Json,
  unordered: ReadonlySet<Json> = new Set(),
  path = 'data',
): string | null {
  if (typeof expected === 'number' && typeof actual === 'number')
    return isClose(expected, actual) ? null : mismatch(path, expected, actual)
  if (Array.isArray(expected) && Array.isArray(actual)) {
    return unordered.has(expected)
      ? compareBags(expected, actual, unordered, path)
      : compareLists(expected, actual, unordered, path)
  }
  if (isObject(expected) && isObject(actual)) return compareObjects(expected, actual, unordered, path)
  return expected === actual ? null : mismatch(path, expected, actual)
}

type Members = Readonly<Record<string, Json>>

const isObject = (value: Json): value is Members => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Means have more digits than a float can hold, and the last one may be rounded either way. */
const isClose = (a: number, b: number): boolean =>
  a === b ||
  (!(Number.isInteger(a) && Number.isInteger(b)) && Math.abs(a - b) <= 1e-13 * Math.max(Math.abs(a), Math.abs(b)))

const mismatch = (path: string, expected: Json, actual: Json): string => {
  const [wanted, given] = apartTexts(JSON.stringify(expected), JSON.stringify(actual))
  return `${path}: expected ${wanted}, but the answer was ${given}`
}

function compareLists(
  expected: readonly Json[],
  actual: readonly Json[],
  unordered: ReadonlySet<Json>,
  path: string,
): string | null {
  for (let index = 0; index < Math.max(expected.length, actual.length); index += 1) {
    const found = compareItems(expected[index], actual[index], unordered, `${path}[${index}]`)
    // The first difference of lists with different lengths is seldom the whole difference.
    if (found !== null && expected.length !== actual.length) return `${lengths(path, expected, actual)}; ${found}`
    if (found !== null) return found
  }
  return null
}

const compareItems = (
  expected: Json | undefined,
  actual: Json | undefined,
  unordered: ReadonlySet<Json>,
  path: string,
): string | null =>
  expected === undefined || actual === undefined
    ? `${path}: expected ${itemText(expected)}, but the answer was ${itemText(actual)}`
    : difference(expected, actual, unordered, path)

const itemText = (item: Json | undefined): string => (item === undefined ? 'no item' : shortened(JSON.stringify(item)))

const lengths = (path: string, expected: readonly Json[], actual: readonly Json[]): string =>
  `${path}: expected ${expected.length} items, but the answer has ${actual.length}`

/** The same items in any order. */
export function compareBags(
  expected: readonly Json[],
  actual: readonly Json[],
  unordered: ReadonlySet<Json>,
  path: string,
): string | null {
  const left = [...actual]
  const missing: Json[] = []
  for (const item of expected) {
    const index = left.findIndex((candidate) => difference(item, candidate, unordered) === null)
    if (index < 0) missing.push(item)
    else left.splice(index, 1)
  }
  if (missing.length + left.length === 0) return null
  const sides = `only expected: ${itemText(missing[0])}, only in the answer: ${itemText(left[0])}`
  return `${lengths(`${path}, in any order`, expected, actual)}; ${sides}`
}

function compareObjects(expected: Members, actual: Members, unordered: ReadonlySet<Json>, path: string): string | null {
  const [names, actualNames] = [Object.keys(expected), Object.keys(actual)]
  if (names.join('\0') !== actualNames.join('\0')) return mismatch(`members of ${path}`, names, actualNames)
  for (const name of names) {
    const found = difference(expected[name] as Json, actual[name] as Json, unordered, `${path}.${name}`)
    if (found !== null) return found
  }
  return null
}
