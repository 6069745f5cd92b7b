import type { Json } from './interpreter/world.ts'

/** Where two answers differ first, or null where they are the same. Members must come in the same order, too. */
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

const mismatch = (path: string, expected: Json, actual: Json): string =>
  `${path}: expected ${shortened(expected)}, but the answer was ${shortened(actual)}`

const shortened = (value: Json): string => {
  const text = JSON.stringify(value)
  return text.length > 400 ? `${text.slice(0, 400)}...` : text
}

function compareLists(
  expected: readonly Json[],
  actual: readonly Json[],
  unordered: ReadonlySet<Json>,
  path: string,
): string | null {
  if (expected.length !== actual.length) return mismatch(path, expected, actual)
  for (const [index, item] of expected.entries()) {
    const found = difference(item, actual[index] as Json, unordered, `${path}[${index}]`)
    if (found !== null) return found
  }
  return null
}

/** The same items in any order. */
export function compareBags(
  expected: readonly Json[],
  actual: readonly Json[],
  unordered: ReadonlySet<Json>,
  path: string,
): string | null {
  const left = [...actual]
  for (const item of expected) {
    const index = left.findIndex((candidate) => difference(item, candidate, unordered) === null)
    if (index < 0) return mismatch(path, expected, actual)
    left.splice(index, 1)
  }
  return left.length === 0 ? null : mismatch(path, expected, actual)
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
