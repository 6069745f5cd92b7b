import { foldAscii } from './patterns.ts'
import type { Json, Value } from './world.ts'

/** The operators of `search` (spec/graphql.md 17.1), with the configuration `simple` and drawn words. */

/** The positions of each word, counted from 1. */
type Vector = ReadonlyMap<string, readonly number[]>

type Query = (vector: Vector) => boolean

/** Letters and digits make words; a character beyond ASCII counts as a letter here. */
const word = /[a-z0-9\u{80}-\u{10ffff}]+/giu

const wordsOf = (text: string): readonly string[] => (text.match(word) ?? []).map(foldAscii)

function vectorOfText(text: string): Vector {
  const vector = new Map<string, number[]>()
  wordsOf(text).forEach((word, index) => vector.set(word, [...(vector.get(word) ?? []), index + 1]))
  return vector
}

/** As Postgres prints it: `'a':1,3 'b':2`. */
const readVector = (text: string): Vector =>
  new Map(
    [...text.matchAll(/'([^']*)':([\d,]+)/g)].map(([, word = '', places = '']) => [
      word,
      places.split(',').map(Number),
    ]),
  )

/**
 * As Postgres sorts them (its tsvector_op.c): by size in memory, where a word of one letter takes two bytes and each of
 * its positions as many; then by the number of words, their letters, the number of positions, and the positions.
 */
export function compareVectors(left: string, right: string): number {
  const [a, b] = [[...readVector(left)], [...readVector(right)]]
  const size = (words: typeof a): number => words.reduce((sum, [, places]) => sum + 8 + 2 * places.length, 0)
  const order = size(a) - size(b) || a.length - b.length
  if (order !== 0) return order
  for (const [index, [word, places]] of a.entries()) {
    const [other, there] = b[index] ?? ['', []]
    if (word !== other) return word < other ? -1 : 1
    if (places.length !== there.length) return there.length - places.length
    const differs = places.findIndex((place, at) => place !== there[at])
    if (differs >= 0) return (there[differs] ?? 0) - (places[differs] ?? 0)
  }
  return 0
}

const has =
  (wanted: string): Query =>
  (vector) =>
    vector.has(wanted)

const phrase = (words: readonly string[]): Query => {
  const [first = '', ...rest] = words
  return (vector) =>
    (vector.get(first) ?? []).some((start) =>
      rest.every((word, index) => vector.get(word)?.includes(start + index + 1) === true),
    )
}

/** Null for an empty search. */
const all = (queries: readonly Query[]): Query | null =>
  queries.length === 0 ? null : (vector) => queries.every((query) => query(vector))

const phraseOrNone = (text: string): readonly Query[] => {
  const words = wordsOf(text)
  return words.length === 0 ? [] : [phrase(words)]
}

/** Words, "phrases", -without, all of them or, in a part between two `or`, none. */
function readWebsearch(text: string): Query | null {
  const parts = text
    .split(/\bor\b/)
    .map((part) =>
      all(
        [...part.matchAll(/(-?)(?:"([^"]*)"|(\S+))/g)].flatMap(([, minus, quoted, plain = '']) =>
          phraseOrNone(quoted ?? plain).map((query): Query => (minus === '-' ? (vector) => !query(vector) : query)),
        ),
      ),
    )
  const given = parts.filter((part) => part !== null)
  return given.length === 0 ? null : (vector) => given.some((part) => part(vector))
}

/** As near as a `real` comes to it (Postgres manual 8.1.3). */
const real = Math.fround

/** Postgres' weight of a word without one. */
const weight = real(0.1)

/**
 * The rank of a value for a query of one word, by its `ts_rank` (tsrank.c): the word's first position counts most, and
 * the sum is divided by its maximum. Null if the value is.
 */
export function rankOf(isVector: boolean, query: string, value: Value): number | null {
  if (value === null) return null
  const vector = isVector ? readVector(String(value)) : vectorOfText(String(value))
  const places = vector.get(wordsOf(query)[0] ?? '') ?? []
  if (places.length === 0) return 0
  const sum = places.reduce((total, _, index) => real(total + real(weight / (index + 1) ** 2)), 0)
  return shortest(real(real(real(weight + sum) - weight) / 1.64493406685))
}

/** The number with the shortest decimal form that rounds to this `real`. */
const shortest = (value: number): number => {
  const texts = Array.from({ length: 9 }, (_, index) => value.toPrecision(index + 1))
  return Number(texts.find((text) => real(Number(text)) === value) ?? value)
}

/** The whole text with marks around a word. */
export const headlineOf = (query: string, start: string, stop: string, value: Value): string | null =>
  value === null
    ? null
    : String(value).replaceAll(word, (found) =>
        foldAscii(found) === wordsOf(query)[0] ? `${start}${found}${stop}` : found,
      )

const readers: Readonly<Record<string, (text: string) => Query | null>> = {
  search: readWebsearch,
  searchPhrase: (text) => all(phraseOrNone(text)),
  searchPlain: (text) => all(wordsOf(text).map(has)),
}

export const searchOperators = Object.keys(readers)

/**
 * Whether a value meets a condition; undefined for an operator that is not the search's own. A query without words
 * matches nothing.
 */
export function readSearch(
  isVector: boolean,
  operator: string,
  input: Json,
): ((value: Value) => boolean | null) | undefined {
  const read = readers[operator]
  if (read === undefined) return undefined
  const query = read((input as { readonly query: string }).query)
  return (value) => {
    if (value === null) return null
    return query !== null && query(isVector ? readVector(String(value)) : vectorOfText(String(value)))
  }
}
