import { printDecimal } from './decimal.ts'
import { containsJson, findJson, hasJsonKey, isNumber, printJson, readJson, textOfJson, type JsonNode } from './json.ts'
import { findByPath, isMatch } from './json-path.ts'
import type { ColumnType, Json, Value } from './world.ts'

/** The operators of `jsonFilters` (spec/graphql.md 17.1). */

const texts = (input: Json): readonly string[] => (Array.isArray(input) ? input : [input]).map(String)

type Meets = (value: JsonNode, operand: Json) => boolean | null

interface PathQuery {
  readonly path: string
  readonly variables?: string | null
}

const byPath =
  (read: (value: JsonNode, path: string, variables: JsonNode) => boolean | null): Meets =>
  (value, operand) => {
    const { path, variables } = operand as unknown as PathQuery
    return read(value, path, readJson(variables ?? '{}'))
  }

const operators: Readonly<Record<string, Meets>> = {
  contains: (value, operand) => containsJson(value, readJson(String(operand))),
  containedBy: (value, operand) => containsJson(readJson(String(operand)), value),
  hasKey: (value, operand) => hasJsonKey(value, String(operand)),
  hasAnyKey: (value, operand) => texts(operand).some((key) => hasJsonKey(value, key)),
  hasAllKeys: (value, operand) => texts(operand).every((key) => hasJsonKey(value, key)),
  pathExists: byPath((value, path, variables) => findByPath(value, path, variables).length > 0),
  pathMatches: byPath(isMatch),
}

export const jsonOperators = ['eq', 'in', 'is', 'neq', 'path', ...Object.keys(operators)]

/** Whether a value meets a condition; undefined for an operator that is not JSON's own. */
export function readJsonOperator(operator: string, input: Json): ((value: Value) => boolean | null) | undefined {
  const meets = operators[operator]
  return meets && ((value) => (value === null ? null : meets(readJson(String(value)), input)))
}

const plain = (base: ColumnType['base']): ColumnType => ({ base, list: false, enum: null })

interface Part {
  readonly type: ColumnType
  readonly valueOf: (node: JsonNode) => Value
}

/** The comparable parts of a value at a path. */
export const jsonParts: Readonly<Record<string, Part>> = {
  text: { type: plain('text'), valueOf: textOfJson },
  number: { type: plain('numeric'), valueOf: (node) => (isNumber(node) ? printDecimal(node.number) : null) },
  boolean: { type: plain('bool'), valueOf: (node) => (typeof node === 'boolean' ? node : null) },
  json: { type: plain('jsonb'), valueOf: printJson },
}

/** A part of the value at a path; null if there is none. */
export const jsonPart = (part: Part, path: Json, value: Value): Value => {
  const found = value === null ? undefined : findJson(readJson(String(value)), texts(path))
  return found === undefined ? null : part.valueOf(found)
}
