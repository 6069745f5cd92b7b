import type { ApiTable, RelationField } from './api-types.ts'
import { apiTableOf } from './api.ts'
import {
  asList,
  every,
  isObject,
  negation,
  readAll,
  readColumn,
  some,
  type Condition,
  type Fields,
  type Input,
} from './conditions.ts'
import { readColumns } from './compared.ts'
import { readElement } from './elements.ts'
import type { JsonNode } from './json.ts'
import { Refused } from './refusal.ts'
import { relatedRows, type Surroundings } from './related.ts'
import type { Row } from './store.ts'
import { decodeToken } from './tokens.ts'
import { compareValues, readCompared } from './types.ts'
import type { ColumnSketch, Json, Value, World } from './world.ts'

/** The conjunction of a filter's entries; null if there are no conditions (spec/graphql.md 4.2, 4.3). */
export function readFilter(around: Surroundings, table: ApiTable, input: Input): Condition | null {
  if (!isObject(input)) return null
  return every(readAll(Object.entries(input), ([name, value]) => readEntry(around, table, name, value)))
}

function readEntry(around: Surroundings, table: ApiTable, name: string, value: Json): Condition | null {
  const { world } = around
  const column = table.filters.get(name)
  if (column !== undefined) return readColumn(world, column, value)
  if (value === null) return null
  const relation = table.filterRelations.get(name)
  if (relation !== undefined) return readRelated(around, table, relation, value)
  switch (name) {
    case 'and':
      return every(readAll(asList(value), (item) => readFilter(around, table, item)))
    case 'or':
      return some(readAll(asList(value), (item) => readFilter(around, table, item)))
    case 'not':
      return negation(readFilter(around, table, value))
    case 'nodeId':
      return readNodeId(world, table, value)
    case 'columns':
      return readColumns(world, table, value)
    default:
      throw new Error(`${table.type} has no filter ${name}`)
  }
}

/** spec/graphql.md 17: some, every or none of the related and visible rows meets the filter. */
function readRelated(around: Surroundings, table: ApiTable, relation: RelationField, input: Json): Condition | null {
  const target = apiTableOf(around.api, relation.target)
  const relatedTo = (from: Row): readonly Row[] => relatedRows(around, table, relation, from).map(({ row }) => row)
  const quantified = (quantifier: string, filter: Json): Condition | null => {
    const condition = filter === null ? null : readFilter(around, target, filter)
    const isEmpty = condition === null && (quantifier === 'every' || !relation.many)
    if (filter === null || isEmpty) return null
    const meets = (other: Row): boolean => condition === null || condition(other) === true
    if (quantifier === 'every') return (row) => relatedTo(row).every(meets)
    return (row) => relatedTo(row).some(meets) === (quantifier === 'some')
  }
  if (!relation.many) return quantified('some', input)
  return every(readAll(Object.entries(input as Fields), ([quantifier, filter]) => quantified(quantifier, filter)))
}

function readNodeId(world: World, table: ApiTable, input: Json): Condition | null {
  if (!isObject(input) || !('eq' in input)) return null
  const token = input['eq']
  if (token === null || token === undefined) throw new Refused('Invalid value passed to nodeId argument, Error 1')
  const { schema, name, keys } = readNodeToken(String(token))
  if (schema !== table.schema || name !== table.sketch.name)
    throw new Refused('nodeId belongs to a different collection')
  return keyCondition(world, table, keys)
}

interface NodeToken {
  readonly schema: string
  readonly name: string
  readonly keys: readonly JsonNode[]
}

/** The errors of spec/graphql.md 7.1; the generator draws only those with a common message. */
function readNodeToken(token: string): NodeToken {
  const bytes = Buffer.from(token, 'base64')
  if (bytes.toString('base64') !== token) throw new Refused('Invalid value passed to nodeId argument. Error 2')
  const parts = decodeToken(token)
  if (parts === undefined)
    throw new Refused(
      'Invalid value passed to nodeId argument. Error 4',
      'Invalid value passed to nodeId argument. Error 10',
    )
  const [schema, name, ...keys] = parts
  if (keys.length === 0) throw new Refused('Invalid value passed to nodeId argument. Error 5')
  return { schema: String(schema), name: String(name), keys }
}

/** The condition that a row has these values in its key. */
function keyCondition(world: World, { key }: ApiTable, elements: readonly JsonNode[]): Condition {
  if (elements.length !== key.length) {
    throw new Refused(`Primary key column count mismatch. Expected ${key.length}, provided ${elements.length}`)
  }
  return equalCondition(
    world,
    key.map((column, index) => [column, readElement(world, column.type, elements[index] ?? null)]),
  )
}

const isEqualTo = (world: World, { type }: ColumnSketch, value: Value, key: Value): boolean | null =>
  value === null || key === null ? null : compareValues(world, type, value, key) === 0

/** The condition that a row has these values in these columns. */
export const valuesCondition = (
  world: World,
  values: readonly (readonly [column: ColumnSketch, input: Json | undefined])[],
): Condition =>
  equalCondition(
    world,
    values.map(([column, input]) => [column, readCompared(world, column.type, input ?? null)]),
  )

const equalCondition =
  (world: World, keys: readonly (readonly [column: ColumnSketch, value: Value])[]): Condition =>
  (row) => {
    const equal = keys.map(([column, key]) => isEqualTo(world, column, row.get(column.name) ?? null, key))
    if (equal.includes(false)) return false
    return equal.includes(null) ? null : true
  }

/** The table in a node id, and the condition that a row of it has the node id's key. */
export function readNode(
  world: World,
  tables: readonly ApiTable[],
  token: string,
): { readonly table: ApiTable; readonly condition: Condition } {
  const { schema, name, keys } = readNodeToken(token)
  const table = tables.find((item) => schema === item.schema && item.sketch.name === name)
  if (table === undefined) throw new Refused('Collection referenced by nodeId did not match any known collection')
  return { table, condition: keyCondition(world, table, keys) }
}
