import { readSpatial } from './geometry.ts'
import { jsonPart, jsonParts } from './json-filter.ts'
import { fieldNameOf } from './names.ts'
import { readOwnOperator } from './own-operators.ts'
import { matches } from './patterns.ts'
import { Refused } from './refusal.ts'
import type { Row } from './store.ts'
import { compareValues, operatorHolds, quantifiers, readCompared, readValue, rulesOf } from './types.ts'
import {
  compositeNamed,
  type ColumnSketch,
  type ColumnType,
  type CompositeValue,
  type Json,
  type Value,
  type World,
} from './world.ts'

/** Conditions on the values of one row (spec/graphql.md 4.1, 17.1). */

/** Three-valued logic: null is unknown, and only true selects a row. */
export type Condition = (row: Row) => boolean | null

export type Input = Json | undefined
export type Fields = Readonly<Record<string, Json>>

export const isObject = (input: Input): input is Fields =>
  typeof input === 'object' && input !== null && !Array.isArray(input)
export const asList = (input: Json): readonly Json[] => (Array.isArray(input) ? input : [input])

/** Reads every part; if several are refused, any of the refusals may be answered. */
export function readAll<Part, Result>(parts: readonly Part[], read: (part: Part) => Result): readonly Result[] {
  const reasons: string[] = []
  const results = parts.flatMap((part) => {
    try {
      return [read(part)]
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      reasons.push(...error.reasons)
      return []
    }
  })
  if (reasons.length > 0) throw new Refused(...reasons)
  return results
}

const given = (conditions: readonly (Condition | null)[]): readonly Condition[] =>
  conditions.filter((condition) => condition !== null)

export function every(conditions: readonly (Condition | null)[]): Condition | null {
  const parts = given(conditions)
  if (parts.length === 0) return null
  return (row) => {
    const truths = parts.map((part) => part(row))
    return truths.includes(false) ? false : truths.includes(null) ? null : true
  }
}

export function some(conditions: readonly (Condition | null)[]): Condition | null {
  const parts = given(conditions)
  if (parts.length === 0) return null
  return (row) => {
    const truths = parts.map((part) => part(row))
    return truths.includes(true) ? true : truths.includes(null) ? null : false
  }
}

export function negation(condition: Condition | null): Condition | null {
  if (condition === null) return null
  return (row) => {
    const truth = condition(row)
    return truth === null ? null : !truth
  }
}

type Compared = Pick<ColumnSketch, 'name' | 'type'>

export function readColumn(
  world: World,
  column: Compared,
  input: Json,
  valueOf = (row: Row): Value => row.get(column.name) ?? null,
): Condition | null {
  if (!isObject(input)) return null
  if (column.type.base === 'composite') return readAttributes(world, column.type, input, valueOf)
  return every(
    readAll(Object.entries(input), ([operator, operand]) =>
      column.type.base === 'jsonb' && operator === 'path'
        ? readPaths(world, operand, valueOf)
        : column.type.list && quantifiers.includes(operator)
          ? readElements(world, column.type, operator, operand, valueOf)
          : readOperator(world, column, operator, operand, valueOf),
    ),
  )
}

/** The comparison type of a list's elements. */
function elementType(type: ColumnType): ColumnType {
  const { elementDomain: _, domain: __, ...rest } = type
  return { ...rest, list: false }
}

/** Conditions on the elements of a list (spec/graphql.md 17.1); for a null list they are unknown. */
function readElements(
  world: World,
  type: ColumnType,
  quantifier: string,
  input: Json,
  valueOf: (row: Row) => Value,
): Condition | null {
  if (!isObject(input)) return null
  const name = 'element'
  const condition = readColumn(world, { name, type: elementType(type) }, input)
  if (condition === null && quantifier === 'every') return null
  const meets = (value: Value): boolean => condition === null || condition(new Map([[name, value]])) === true
  return (row) => {
    const list = valueOf(row)
    if (!Array.isArray(list)) return null
    return quantifier === 'every' ? list.every(meets) : list.some(meets) === (quantifier === 'some')
  }
}

/** Conditions on values at paths of a JSON value (spec/graphql.md 17.1). */
const readPaths = (world: World, input: Json, valueOf: (row: Row) => Value): Condition | null =>
  input === null
    ? null
    : every(
        asList(input).flatMap((item) => {
          const { at = [], ...parts } = item as Fields
          return readAll(Object.entries(parts), ([name, conditions]) => {
            const part = jsonParts[name]
            if (part === undefined) throw new Error(`there is no part ${name} of a JSON value`)
            return readColumn(world, { name, type: part.type }, conditions, (row) => jsonPart(part, at, valueOf(row)))
          })
        }),
      )

/** Conditions on attributes of a composite value (spec/graphql.md 17); those of a null are null. */
const readAttributes = (
  world: World,
  type: ColumnType,
  input: Fields,
  valueOf: (row: Row) => Value,
): Condition | null =>
  every(
    readAll(Object.entries(input), ([field, value]) => {
      const attribute = attributeOf(world, type, field)
      return readColumn(world, attribute, value, (row) => part(valueOf(row), attribute.name))
    }),
  )

/** An attribute by its field. */
export function attributeOf(world: World, type: ColumnType, field: string): Compared {
  const { attributes } = compositeNamed(world, type)
  const found = attributes.find(({ name }) => fieldNameOf(name, null, world.inflects) === field)
  if (found === undefined) throw new Error(`${type.composite} has no attribute for ${field}`)
  return found
}

export const part = (value: Value, attribute: string): Value =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? ((value as CompositeValue)[attribute] ?? null)
    : null

function readOperator(
  world: World,
  { type }: Compared,
  operator: string,
  input: Json,
  valueOf: (row: Row) => Value,
): Condition {
  if (operator === 'is') {
    if (input === null) throw new Refused('Error transpiling Is filter value type')
    return (row) => (valueOf(row) === null) === (input === 'NULL')
  }
  if (input === null) return () => null
  if (type.base === 'geometry') {
    const meets = readSpatial(operator, input)
    return (row) => meets(valueOf(row) as string | null)
  }
  const meets = readOwnOperator(type.base, operator, input)
  if (meets !== undefined) return (row) => meets(valueOf(row))
  if (operator === 'in') {
    const list = asList(input).map((item) => readCompared(world, type, item))
    return (row) => isIn(world, type, valueOf(row), list)
  }
  const operand = readCompared(world, type, input)
  return (row) => {
    const value = valueOf(row)
    return value === null ? null : compareBy(world, type, operator, value, operand)
  }
}

/** Texts that are too long for the column are refused before anything runs (spec/graphql.md 3.4). */
export function readInput(world: World, type: ColumnType, input: Json): Value {
  const maxLength = type.length ?? rulesOf(type).maxLength
  if (!type.list && maxLength !== null && typeof input === 'string' && [...input].length > maxLength) {
    throw new Refused(`Invalid input for String type. Maximum character length ${maxLength}`)
  }
  return readValue(world, type, input)
}

function isIn(world: World, type: ColumnType, value: Value, list: readonly Value[]): boolean | null {
  if (list.length === 0) return false
  if (value === null) return null
  return list.some((item) => compareValues(world, type, value, item) === 0)
}

function compareBy(world: World, type: ColumnType, operator: string, value: Value, operand: Value): boolean {
  const isPattern = matches[operator]
  if (isPattern !== undefined) return isPattern(String(value), String(operand))
  if (Array.isArray(value) && Array.isArray(operand) && operator !== 'eq')
    return compareSets(world, type, operator, value, operand)
  return operatorHolds(operator, compareValues(world, type, value, operand))
}

/** A null element equals nothing here (Postgres manual 9.19). */
function compareSets(
  world: World,
  type: ColumnType,
  operator: string,
  value: readonly Value[],
  operand: readonly Value[],
): boolean {
  const element = { ...type, list: false }
  const has = (list: readonly Value[], item: Value): boolean =>
    item !== null && list.some((other) => other !== null && compareValues(world, element, item, other) === 0)
  switch (operator) {
    case 'contains':
      return operand.every((item) => has(value, item))
    case 'containedBy':
      return value.every((item) => has(operand, item))
    case 'overlaps':
      return operand.some((item) => has(value, item))
    default:
      throw new Error(`there is no operator ${operator} on lists`)
  }
}
