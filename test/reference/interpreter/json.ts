import { Refused } from './refusal.ts'
import { compareDecimals, printDecimal, readDecimal, type Decimal } from './decimal.ts'

/** JSON values of jsonb (Postgres manual 8.14): numbers with all their digits. */
export type JsonNode = null | boolean | string | NumberNode | readonly JsonNode[] | ReadonlyMap<string, JsonNode>

export interface NumberNode {
  readonly number: Decimal
}

export const isMap = (node: JsonNode | undefined): node is ReadonlyMap<string, JsonNode> => node instanceof Map
export const isList = (node: JsonNode | undefined): node is readonly JsonNode[] => Array.isArray(node)
export const isNumber = (node: JsonNode | undefined): node is NumberNode =>
  typeof node === 'object' && node !== null && !isMap(node) && !isList(node)
const isScalar = (node: JsonNode): boolean => !isMap(node) && !isList(node)

/** A jsonb text cannot contain this character, so a text that begins with it represents a number. */
const mark = '\u0000'

export function readJson(text: string): JsonNode {
  const marked = text.replaceAll(/"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?/g, (token) =>
    token.startsWith('"') ? token : JSON.stringify(mark + token),
  )
  return nodeOf(JSON.parse(marked))
}

function nodeOf(value: unknown): JsonNode {
  if (typeof value === 'string')
    return value.startsWith(mark) ? { number: readDecimal(value.slice(mark.length)) } : value
  if (Array.isArray(value)) return value.map(nodeOf)
  if (typeof value === 'object' && value !== null)
    return new Map(Object.entries(value).map(([key, inner]) => [key, nodeOf(inner)]))
  return value as boolean | null
}

const compareKeys = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number =>
  Buffer.byteLength(a) - Buffer.byteLength(b) || Buffer.compare(Buffer.from(a), Buffer.from(b))

/** As jsonb prints it: short keys first. */
export function printJson(node: JsonNode): string {
  if (isNumber(node)) return printDecimal(node.number)
  if (isList(node)) return `[${node.map(printJson).join(', ')}]`
  if (!isMap(node)) return JSON.stringify(node)
  return printMembers([...node].map(([key, value]) => [key, printJson(value)]))
}

/** An object of members whose values are printed already. */
export function printMembers(members: readonly (readonly [key: string, text: string])[]): string {
  const sorted = [...members].sort(compareKeys).map(([key, text]) => `${JSON.stringify(key)}: ${text}`)
  return `{${sorted.join(', ')}}`
}

/** Its text if it represents one: a text without its quotes, JSON null is null. */
export const textOfJson = (node: JsonNode): string | null =>
  node === null ? null : typeof node === 'string' ? node : printJson(node)

/** Numbers are equal independent of their notation. */
export function isEqualJson(a: JsonNode, b: JsonNode): boolean {
  if (isNumber(a)) return isNumber(b) && compareDecimals(a.number, b.number) === 0
  if (isList(a))
    return isList(b) && a.length === b.length && a.every((item, index) => isEqualJson(item, b[index] ?? null))
  if (!isMap(a)) return a === b
  return (
    isMap(b) &&
    a.size === b.size &&
    [...a].every(([key, value]) => {
      const other = b.get(key)
      return other !== undefined && isEqualJson(value, other)
    })
  )
}

/** The first sort key of jsonb (Postgres manual 8.14.4). */
function rankOf(node: JsonNode): number {
  if (isMap(node)) return 5
  if (isList(node)) return 4
  if (typeof node === 'boolean') return 3
  return isNumber(node) ? 2 : typeof node === 'string' ? 1 : 0
}

const isNothing = (node: JsonNode): boolean => isList(node) && node.length === 0

/** The order of jsonb: an empty array comes first, except within others. */
export const compareJson = (a: JsonNode, b: JsonNode): number =>
  isNothing(a) || isNothing(b) ? Number(isNothing(b)) - Number(isNothing(a)) : compareInner(a, b)

function compareInner(a: JsonNode, b: JsonNode): number {
  if (isMap(a) && isMap(b)) return a.size - b.size || compareAll(membersOf(a), membersOf(b))
  if (isList(a) && isList(b)) return a.length - b.length || compareAll(a, b)
  if (isNumber(a) && isNumber(b)) return compareDecimals(a.number, b.number)
  if (typeof a === 'string' && typeof b === 'string') return Buffer.compare(Buffer.from(a), Buffer.from(b))
  if (typeof a === 'boolean' && typeof b === 'boolean') return Number(a) - Number(b)
  return rankOf(a) - rankOf(b)
}

/** Keys and values alternately. */
const membersOf = (node: ReadonlyMap<string, JsonNode>): readonly JsonNode[] => [...node].sort(compareKeys).flat()

const compareAll = (a: readonly JsonNode[], b: readonly JsonNode[]): number => {
  for (const [index, item] of a.entries()) {
    const order = compareInner(item, b[index] ?? null)
    if (order !== 0) return order
  }
  return 0
}

/** Containment: order and repetition in arrays do not count, and an array contains a plain value among its elements. */
export function containsJson(whole: JsonNode, part: JsonNode): boolean {
  if (isList(whole) && isScalar(part)) return whole.some((item) => isEqualJson(item, part))
  if (isMap(whole)) {
    return (
      isMap(part) &&
      [...part].every(([key, wanted]) => {
        const value = whole.get(key)
        return value !== undefined && isWithin(value, wanted)
      })
    )
  }
  if (!isList(whole)) return isScalar(part) && isEqualJson(whole, part)
  return isList(part) && part.every((wanted) => whole.some((item) => isWithin(item, wanted)))
}

/** Below the top an array contains no plain value. */
const isWithin = (value: JsonNode, wanted: JsonNode): boolean =>
  isScalar(value) || isScalar(wanted) ? isEqualJson(value, wanted) : containsJson(value, wanted)

/** Whether it has the key, the text among its elements, or is that text. */
export function hasJsonKey(node: JsonNode, key: string): boolean {
  if (isMap(node)) return node.has(key)
  return isList(node) ? node.includes(key) : node === key
}

/** The value at a path; undefined if there is none. */
export function findJson(node: JsonNode, [step, ...rest]: readonly string[]): JsonNode | undefined {
  if (step === undefined) return node
  const found = isMap(node) ? node.get(step) : isList(node) && /^-?\d+$/.test(step) ? node.at(Number(step)) : undefined
  return found === undefined ? undefined : findJson(found, rest)
}

const asList = (node: JsonNode): readonly JsonNode[] => (isList(node) ? node : [node])

/** `||`: objects are merged, other values are concatenated as arrays (Postgres manual 9.16). */
export const concatJson = (a: JsonNode, b: JsonNode): JsonNode =>
  isMap(a) && isMap(b) ? new Map([...a, ...b]) : [...asList(a), ...asList(b)]

/** The position of a step in a list, possibly before or after all elements. */
function positionIn(list: readonly JsonNode[], step: string): number {
  if (!/^[+-]?\d+$/.test(step)) throw new Refused('22P02')
  const position = Number(step)
  return position < 0 ? list.length + position : position
}

/** jsonb_set: the last step of a path is created if missing; if an earlier one is missing, nothing changes. */
export function setJson(node: JsonNode, path: readonly string[], value: JsonNode): JsonNode {
  if (isScalar(node)) throw new Refused('22023')
  return path.length === 0 ? node : setBelow(node, path, value)
}

function setBelow(node: JsonNode, [step = '', ...rest]: readonly string[], value: JsonNode): JsonNode {
  const isLast = rest.length === 0
  if (isMap(node)) {
    const inner = node.get(step)
    if (isLast) return new Map([...node, [step, value]])
    return inner === undefined ? node : new Map([...node, [step, setBelow(inner, rest, value)]])
  }
  if (!isList(node)) return node
  const position = positionIn(node, step)
  if (position >= 0 && position < node.length)
    return node.map((item, index) => (index !== position ? item : isLast ? value : setBelow(item, rest, value)))
  if (!isLast) return node
  return position < 0 ? [value, ...node] : [...node, value]
}

/** `#-`: without the value at the path. */
export function deleteJson(node: JsonNode, path: readonly string[]): JsonNode {
  if (isScalar(node)) throw new Refused('22023')
  const isEmpty = isMap(node) ? node.size === 0 : isList(node) && node.length === 0
  return path.length === 0 || isEmpty ? node : deleteBelow(node, path)
}

function deleteBelow(node: JsonNode, [step = '', ...rest]: readonly string[]): JsonNode {
  const isLast = rest.length === 0
  if (isMap(node))
    return new Map(
      [...node].flatMap(([key, inner]): readonly (readonly [string, JsonNode])[] =>
        key !== step ? [[key, inner]] : isLast ? [] : [[key, deleteBelow(inner, rest)]],
      ),
    )
  if (!isList(node)) return node
  const position = positionIn(node, step)
  return node.flatMap((item, index) => (index !== position ? [item] : isLast ? [] : [deleteBelow(item, rest)]))
}
