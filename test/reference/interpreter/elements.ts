import { printDecimal } from './decimal.ts'
import { isList, isMap, isNumber, printJson, printMembers, type JsonNode } from './json.ts'
import { readValue } from './types.ts'
import {
  compositeNamed,
  type BaseType,
  type ColumnType,
  type CompositeValue,
  type Json,
  type Value,
  type World,
} from './world.ts'

/** Values as elements of cursors and node ids, whose text is that of jsonb (spec/graphql.md 5.5). */

/** Their canonical form is the text in jsonb: numbers of any length, and JSON itself. */
const asTheyAre: ReadonlySet<BaseType> = new Set(['int8', 'jsonb', 'numeric', 'numeric(8,2)'])

export function elementText(world: World, type: ColumnType, value: Value): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) {
    const items = value.map((item: Value) => elementText(world, { ...type, list: false }, item))
    return `[${items.join(', ')}]`
  }
  if (type.base === 'composite')
    return printMembers(
      compositeNamed(world, type).attributes.map(({ name, type: inner }) => [
        name,
        elementText(world, inner, (value as CompositeValue)[name] ?? null),
      ]),
    )
  return asTheyAre.has(type.base) ? String(value) : JSON.stringify(value)
}

/** The value of a type for an element. Only keys can be JSON, and are never null: null there is JSON's. */
export const readElement = (world: World, type: ColumnType, element: JsonNode): Value =>
  element === null && type.base === 'jsonb' && !type.list ? 'null' : readPart(world, type, element)

/** Within a list or a composite value null is not a value. */
function readPart(world: World, type: ColumnType, element: JsonNode): Value {
  if (element === null) return null
  if (type.list && isList(element))
    return element.map((item) => readPart(world, { ...type, list: false }, item) as string)
  if (type.base === 'jsonb') return printJson(element)
  if (type.base === 'composite' && isMap(element))
    return Object.fromEntries(
      compositeNamed(world, type).attributes.map(({ name, type: inner }) => [
        name,
        readPart(world, inner, element.get(name) ?? null),
      ]),
    )
  return readValue(world, type, plainOf(element))
}

const plainOf = (element: JsonNode): Json =>
  typeof element === 'string' ? element : isNumber(element) ? printDecimal(element.number) : printJson(element)
