import { isLosslessNumber, parse, stringify } from 'lossless-json'
import { arrayText, type ArrayItem } from '../../sql/array-text.ts'
import { badArgument } from '../protocol/failures.ts'

/**
 * Cursors and node ids: base64 of the JSON text that Postgres produced (spec/graphql.md 5.2, 5.5, 7.1). Numbers keep
 * their digits.
 */

/** The kinds of elements: a value's text, an array's elements, a JSON document, or an array of these. */
export type ElementForm = 'text' | 'list' | 'json' | 'json-list'

/** Elements as they were parsed, numbers with all their digits. */
export type Elements = readonly unknown[]

const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

type Step = 'base64' | 'utf-8' | 'json' | 'array'

/** @returns the elements, or the step that failed */
function decode(token: string): Elements | Step {
  if (!base64.test(token)) return 'base64'
  let text: string
  try {
    text = utf8.decode(Buffer.from(token, 'base64'))
  } catch {
    return 'utf-8'
  }
  let value: unknown
  try {
    value = parse(text)
  } catch {
    return 'json'
  }
  return Array.isArray(value) ? value : 'array'
}

/** Whether an element is a null of SQL: JSON has its own null; but only keys, which are never null, are JSON. */
export const isNullElement = (element: unknown, form: ElementForm): boolean => element === null && form !== 'json'

/** An element as text to be cast to the type of its column; null stays null. */
export function elementText(element: unknown, form: ElementForm): string | null {
  if (isNullElement(element, form)) return null
  if (form === 'json') return stringify(element) ?? null
  if (!Array.isArray(element) || form === 'text') return plainText(element)
  return arrayText(element.map(form === 'list' ? itemOf : itemDocument))
}

const itemDocument = (element: unknown): ArrayItem => (element === null ? null : (stringify(element) ?? null))

const itemOf = (element: unknown): ArrayItem =>
  Array.isArray(element) ? element.map(itemOf) : element === null ? null : plainText(element)

const plainText = (element: unknown): string =>
  typeof element === 'string' ? element : isLosslessNumber(element) ? element.toString() : (stringify(element) ?? '')

const cursorErrors: Readonly<Record<Step, number>> = { base64: 1, 'utf-8': 2, json: 3, array: 4 }

export function decodeCursor(token: string): Elements {
  const elements = decode(token)
  if (typeof elements === 'string') throw badArgument(`Failed to decode cursor, error ${cursorErrors[elements]}`)
  return elements
}

interface NodeId {
  readonly schema: string
  readonly relation: string
  readonly keys: Elements
}

const nodeErrors: Readonly<Record<Step, number>> = { base64: 2, 'utf-8': 3, json: 4, array: 10 }
const nodeError = (number: number): Error => badArgument(`Invalid value passed to nodeId argument. Error ${number}`)

export function decodeNodeId(token: string): NodeId {
  const elements = decode(token)
  if (typeof elements === 'string') throw nodeError(nodeErrors[elements])
  const [schema, relation, ...keys] = elements
  if (elements.length < 3) throw nodeError(5)
  if (typeof schema !== 'string') throw nodeError(6)
  if (typeof relation !== 'string') throw nodeError(7)
  return { schema, relation, keys }
}

/** The relation that a node id must name. */
export interface NodeTable {
  readonly schema: string
  readonly relation: string
  readonly keys: number
}

/** @returns the key values of a node id that names this table */
export function checkNodeId(token: string, table: NodeTable): Elements {
  const id = decodeNodeId(token)
  if (id.schema !== table.schema || id.relation !== table.relation) {
    throw badArgument('nodeId belongs to a different collection')
  }
  if (id.keys.length !== table.keys) {
    throw badArgument(`Primary key column count mismatch. Expected ${table.keys}, provided ${id.keys.length}`)
  }
  return id.keys
}
