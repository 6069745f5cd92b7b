import { addDecimals, multiplyDecimals, printDecimal, readDecimal, roundDecimal } from './decimal.ts'
import { concatJson, deleteJson, isEqualJson, isList, printJson, readJson, setJson, type JsonNode } from './json.ts'
import { Refused } from './refusal.ts'
import { compareValues, readValue, rulesOf } from './types.ts'
import type { ColumnType, Json, Value, World } from './world.ts'

/** The operators of updates (spec/graphql.md 17.4). */

type Apply = (world: World, type: ColumnType, value: Value, operand: Json) => Value
type Family = 'number' | 'array' | 'json'

const numbers: ReadonlySet<ColumnType['base']> = new Set(['int2', 'int4', 'int8', 'numeric', 'numeric(8,2)', 'float8'])

function familyOf({ list, base }: ColumnType): Family | null {
  if (list) return 'array'
  if (base === 'jsonb') return 'json'
  return numbers.has(base) ? 'number' : null
}

const outOfRange = '22003'

const integerBits: Readonly<Partial<Record<ColumnType['base'], number>>> = { int2: 16, int4: 32, int8: 64 }

/** A result as a whole number of the type, refused if too large (Postgres manual 8.1.1); undefined: of other types. */
export function fittedInteger({ base }: ColumnType, text: string): Value | undefined {
  const bits = integerBits[base]
  if (bits === undefined) return undefined
  const value = BigInt(text)
  if (BigInt.asIntN(bits, value) !== value) throw new Refused(outOfRange)
  return base === 'int8' ? String(value) : Number(value)
}

/** The column's value for a result, refused if too large (Postgres manual 8.1). */
function fitted(type: ColumnType, text: string): Value {
  const { base, scale } = type
  const integer = fittedInteger(type, text)
  if (integer !== undefined) return integer
  const places = base === 'numeric(8,2)' ? 2 : scale
  const rounded = places === undefined ? readDecimal(text) : roundDecimal(readDecimal(text), places)
  if (base === 'numeric(8,2)' && String(rounded.digits).replace('-', '').length > 8) throw new Refused(outOfRange)
  return printDecimal(rounded)
}

const calculate =
  (ofFloats: (a: number, b: number) => number, ofDecimals: typeof addDecimals): Apply =>
  (_world, type, value, operand) => {
    if (value === null) return null
    if (type.base !== 'float8')
      return fitted(type, printDecimal(ofDecimals(readDecimal(String(value)), readDecimal(String(operand)))))
    const result = ofFloats(Number(value), Number(operand))
    if (!Number.isFinite(result)) throw new Refused(outOfRange)
    return result
  }

const elementsOf = (world: World, type: ColumnType, operand: Json): readonly Value[] =>
  readValue(world, type, operand) as readonly Value[]

const listOf = (value: Value): readonly Value[] => (value ?? []) as readonly Value[]

const removeElements: Apply = (world, type, value, operand) => {
  if (value === null) return null
  const gone = elementsOf(world, type, operand)
  const element = { ...type, list: false }
  const isGone = (item: Value): boolean =>
    gone.some((one) => (item === null || one === null ? item === one : compareValues(world, element, item, one) === 0))
  return listOf(value).filter((item) => !isGone(item)) as Value
}

const onJson =
  (change: (value: JsonNode, operand: JsonNode) => JsonNode, ofNull: 'operand' | 'null'): Apply =>
  (_world, _type, value, operand) => {
    const given = readJson(String(operand))
    if (value === null) return ofNull === 'operand' ? printJson(given) : null
    return printJson(change(readJson(String(value)), given))
  }

const removeItems = (value: JsonNode, operand: JsonNode): JsonNode => {
  const gone = isList(operand) ? operand : [operand]
  return isList(value) ? value.filter((item) => !gone.some((one) => isEqualJson(item, one))) : value
}

interface Step {
  readonly at: Json
  readonly value?: Json
}

export const steps = (operand: Json): readonly Step[] =>
  (Array.isArray(operand) ? operand : [operand]) as readonly Step[]

const pathOf = ({ at }: Step): readonly string[] => (Array.isArray(at) ? at : [at]).map(String)

const setKeys: Apply = (_world, _type, value, operand) =>
  steps(operand).reduce(
    (before: Value, step) =>
      printJson(setJson(readJson(String(before ?? '{}')), pathOf(step), readJson(String(step.value)))),
    value,
  )

const unsetKeys: Apply = (_world, _type, value, operand) =>
  steps(operand).reduce(
    (before: Value, step) => (before === null ? null : printJson(deleteJson(readJson(String(before)), pathOf(step)))),
    value,
  )

const operators = {
  increment: { number: calculate((a, b) => a + b, addDecimals) },
  multiply: { number: calculate((a, b) => a * b, multiplyDecimals) },
  append: {
    array: (world, type, value, operand) => [...listOf(value), ...elementsOf(world, type, operand)] as Value,
    json: onJson(concatJson, 'operand'),
  },
  prepend: {
    array: (world, type, value, operand) => [...elementsOf(world, type, operand), ...listOf(value)] as Value,
    json: onJson((value, operand) => concatJson(operand, value), 'operand'),
  },
  remove: { array: removeElements, json: onJson(removeItems, 'null') },
  setKey: { json: setKeys },
  unsetKey: { json: unsetKeys },
} as const satisfies Readonly<Record<string, Readonly<Partial<Record<Family, Apply>>>>>

export type OperatorName = keyof typeof operators

export const operatorNames = Object.keys(operators) as readonly OperatorName[]

export const applied = (name: OperatorName, type: ColumnType): Apply | undefined => {
  const family = familyOf(type)
  const byFamily: Readonly<Partial<Record<Family, Apply>>> = operators[name]
  return family === null ? undefined : byFamily[family]
}

/** Whether a column of the type takes the operator. */
export const takesOperator = (name: OperatorName, type: ColumnType): boolean =>
  applied(name, type) !== undefined &&
  (name !== 'remove' || !type.list || type.base === 'enum' || rulesOf(type).listFilter)
