import { isLosslessNumber, parse, stringify } from 'lossless-json'
import { badArgument } from './failures.ts'

/**
 * Cursors and node ids: base64 of the JSON text that Postgres made (spec/graphql.md 5.2, 5.5, 7.1). Numbers keep their digits.
 */

/** Values as texts to be cast to their columns' types; null stays null. */
export type TokenValues = readonly (string | null)[]

const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

type Step = 'base64' | 'utf-8' | 'json' | 'array'

/** @returns the elements, or the step that failed */
function decode(token: string): readonly unknown[] | Step {
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

function toText(value: unknown): string | null {
  if (value === null || typeof value === 'string') return value
  if (isLosslessNumber(value)) return value.toString()
  return stringify(value) ?? null
}

const cursorErrors: Readonly<Record<Step, number>> = { base64: 1, 'utf-8': 2, json: 3, array: 4 }

export function decodeCursor(token: string): TokenValues {
  const elements = decode(token)
  if (typeof elements === 'string') throw badArgument(`Failed to decode cursor, error ${cursorErrors[elements]}`)
  return elements.map(toText)
}

export interface NodeId {
  readonly schema: string
  readonly relation: string
  readonly keys: TokenValues
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
  return { schema, relation, keys: keys.map(toText) }
}
