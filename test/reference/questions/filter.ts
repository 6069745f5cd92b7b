import type { ApiTable, RelationField } from '../interpreter/api-types.ts'
import { apiTableOf } from '../interpreter/api.ts'
import { nodeIdOf } from '../interpreter/answer.ts'
import { familyOf } from '../interpreter/compared.ts'
import { storeOf, rowsOf } from '../interpreter/store.ts'
import { encodeToken } from '../interpreter/tokens.ts'
import { operatorsOf, quantifiers, type FilterSwitches } from '../interpreter/types.ts'
import { fieldNameOf, isName } from '../interpreter/names.ts'
import {
  additionsOf,
  compositeNamed,
  type Additions,
  type ColumnSketch,
  type ColumnType,
} from '../interpreter/world.ts'
import { absent, place, type Tree } from './input.ts'
import { drawJsonFilter } from './json-filter.ts'
import { columnValue, inputType, toTree, type Scene } from './scene.ts'
import { drawOwnOperand } from './value-filter.ts'

/** A filter of a table, including the unusual forms of spec/graphql.md 4.3. */
export function drawFilter(scene: Scene, table: ApiTable, depth = 2, type = `${table.type}Filter`): Tree {
  const { draw } = scene
  const entries = new Map<string, Tree>()
  const columns = [...table.filters]
  const count = draw.pick([1, 1, 2, 0])
  for (let index = 0; index < count && columns.length > 0; index += 1) {
    const [name, column] = draw.pick(columns)
    entries.set(name, drawColumn(scene, table, column, switchesOf(scene, table, name)))
  }
  if (depth > 0 && table.filterRelations.size > 0 && draw.chance(40)) {
    const [name, relation] = draw.pick([...table.filterRelations])
    entries.set(name, drawRelated(scene, relation, depth - 1))
  }
  if (table.compared.size > 0 && draw.chance(35)) entries.set('columns', drawColumns(scene, table))
  if (depth > 0 && draw.chance(45)) drawLogic(scene, table, depth, entries)
  if (draw.chance(8) && table.key.length > 0 && !table.filters.has('nodeId'))
    entries.set('nodeId', drawNodeId(scene, table))
  return entries.size === 0 ? entries : place(scene, type, entries)
}

/** Comparisons of columns; occasionally of incomparable ones, which is refused. */
function drawColumns(scene: Scene, table: ApiTable): Tree {
  const { draw } = scene
  if (draw.chance(4)) return null
  scene.tell('filter: columns')
  const enumType = `${table.type}ComparedColumn`
  const [name, column] = draw.pick([...table.compared])
  const isOther = draw.chance(10) && scene.spoil()
  const isFit = (type: ColumnType): boolean => (familyOf(type) === familyOf(column.type)) !== isOther
  const others = [...table.compared].filter(([, { type }]) => isFit(type))
  if (others.length === 0) return new Map()
  const operands = draw.some(['eq', 'gt', 'gte', 'lt', 'lte', 'neq'], 30).map((operator): [string, Tree] => {
    if (draw.chance(5)) return [operator, absent(scene, enumType)]
    if (draw.chance(5)) return [operator, place(scene, enumType, null)]
    const [other] = draw.pick(others)
    return [operator, place(scene, enumType, { word: other })]
  })
  return place(scene, `${table.type}ColumnFilter`, new Map([[name, new Map(operands)]]))
}

const drawList = (scene: Scene, table: ApiTable, depth: number): Tree =>
  // A single object may stand for a list, but a variable of its type may not.
  scene.draw.chance(15)
    ? drawFilter(scene, table, depth, `[${table.type}Filter!]`)
    : Array.from({ length: scene.draw.int(4) }, () => drawFilter(scene, table, depth, `${table.type}Filter!`))

function drawLogic(scene: Scene, table: ApiTable, depth: number, entries: Map<string, Tree>): void {
  const name = scene.draw.pick(['or', 'not', 'and'] as const)
  if (table.filters.has(name)) return
  scene.tell(`filter: ${name}`)
  if (scene.draw.chance(5)) entries.set(name, null)
  else entries.set(name, name === 'not' ? drawFilter(scene, table, depth - 1) : drawList(scene, table, depth - 1))
}

/** Conditions on related rows; occasionally none, or nothing at all. */
function drawRelated(scene: Scene, { target: name, many }: RelationField, depth: number): Tree {
  const { draw } = scene
  const target = apiTableOf(scene.api, name)
  if (draw.chance(4)) return null
  if (!many) {
    scene.tell('filter: related row')
    return drawFilter(scene, target, depth)
  }
  const chosen = draw.some(['some', 'every', 'none'], 40)
  const entries = (chosen.length === 0 && !draw.chance(10) ? ['some'] : chosen).map((quantifier): [string, Tree] => {
    scene.tell(`filter: related rows, ${quantifier}`)
    return [quantifier, draw.chance(4) ? null : drawFilter(scene, target, depth)]
  })
  return place(scene, `${target.type}RelationFilter`, new Map(entries))
}

/** The additions of a field: computed ones use the schema's; if both are possible, those that are on for both. */
function switchesOf({ world }: Scene, table: ApiTable, name: string): FilterSwitches {
  const [own, schema] = [additionsOf(world, table.sketch), world.additions ?? {}]
  if (table.fields.get(name)?.kind !== 'computed') return own
  return Object.fromEntries(
    Object.entries(own).map(([key, on]) => [key, on && schema[key as keyof Additions] === true]),
  )
}

function drawColumn(scene: Scene, table: ApiTable, column: ColumnSketch, on: FilterSwitches): Tree {
  const { draw } = scene
  if (draw.chance(4)) return null
  if (column.type.base === 'composite') return drawAttributes(scene, table, column.type)
  if (column.type.base === 'jsonb') return drawJsonFilter(scene, table, column)
  const operators = operatorsOf(column.type, { ...on, enumArrays: true })
  const count = draw.pick([1, 1, 1, 2, 0])
  const entries = new Map<string, Tree>()
  for (let index = 0; index < count; index += 1) {
    const operator = draw.pick(operators)
    const operand = quantifiers.includes(operator)
      ? drawElements(scene, table, column, operator)
      : drawOperand(scene, table, column, operator)
    if (operand !== undefined) entries.set(operator, operand)
  }
  return entries
}

function drawElements(scene: Scene, table: ApiTable, column: ColumnSketch, quantifier: string): Tree {
  scene.tell(`filter: elements, ${quantifier}`)
  const { elementDomain: _, domain: __, ...type } = column.type
  return drawColumn(scene, table, { ...column, type: { ...type, list: false } }, {})
}

/** Conditions on attributes. */
function drawAttributes(scene: Scene, table: ApiTable, type: ColumnType): Tree {
  const usable = compositeNamed(scene.world, type).attributes.filter(({ name, type: inner }) => {
    return (
      isName(fieldNameOf(name, null, scene.world.inflects)) &&
      (inner.base === 'composite' || operatorsOf(inner, scene.world.additions ?? {}).length > 0)
    )
  })
  scene.tell('filter: attributes')
  const entries = scene.draw.some(usable, 60).map(({ name, type: inner }): [string, Tree] => {
    const attribute: ColumnSketch = { name, type: inner, notNull: false, fallback: { kind: 'none' }, field: null }
    return [
      fieldNameOf(name, null, scene.world.inflects),
      drawColumn(scene, table, attribute, scene.world.additions ?? {}),
    ]
  })
  return new Map(entries)
}

/** The drawn operands of a pattern operator; `matches` gives the result of each. */
export const patternOperands: Readonly<Record<string, readonly string[]>> = {
  like: ['a%', '%', '_', '%b', 'a\\_b', '%\\%%', '', 'É', '__'],
  ilike: ['A%', '%B', 'É', 'a_B', ''],
  regex: ['^a', 'b$', '.', 'a|b', '[ab]+', '^$', 'a.b', 'É'],
  iregex: ['^A', 'B$', 'A|b', 'é', '^[A-B]+$'],
  startsWith: ['a', '', 'a%', 'É', '😀', 'A'],
}

export function drawOperand(scene: Scene, table: ApiTable, column: ColumnSketch, operator: string): Tree | undefined {
  const { draw } = scene
  const lists = column.type.list ? ` on lists${column.type.base === 'enum' ? ' of enums' : ''}` : ''
  scene.tell(`operator: ${operator}${lists}`)
  const type = inputType(scene, column.type)
  if (operator === 'is') {
    if (scene.spoil()) return null
    return place(scene, 'FilterIs', { word: draw.pick(['NULL', 'NOT_NULL']) })
  }
  if (operator === 'dWithin') return drawDistance(scene, table, column)
  const own = drawOwnOperand(scene, operator)
  if (own !== undefined) return own
  const isList = operator === 'in' || column.type.list
  const declared = isList ? `[${type}!]` : type
  if (draw.chance(4)) return absent(scene, declared)
  if (draw.chance(5)) return place(scene, declared, null)
  if (column.type.base === 'varchar(5)' && !isList && draw.chance(5)) return 'äöüßéa'
  if (patternOperands[operator] !== undefined && column.type.base === 'text' && draw.chance(70))
    return place(scene, declared, draw.pick(patternOperands[operator] ?? []))
  if (patternOperands[operator] !== undefined && operator !== 'startsWith') return place(scene, declared, 'a')
  const one = (): Tree | undefined => {
    const value = columnValue(scene, table, column)
    return value === undefined ? undefined : toTree(scene, column.type, value)
  }
  if (operator !== 'in') {
    const value = one()
    return value === undefined ? undefined : place(scene, declared, value)
  }
  const items = Array.from({ length: draw.int(4) }, () => one()).filter((item) => item !== undefined)
  const [first] = items
  return place(scene, declared, draw.chance(15) && first !== undefined ? first : items)
}

/** Distances between the few places, and values in between. */
const distances = [1, 0, 1.5, 2, 3]

function drawDistance(scene: Scene, table: ApiTable, column: ColumnSketch): Tree | undefined {
  const { draw } = scene
  if (draw.chance(4)) return absent(scene, 'GeoJSONDistance')
  if (draw.chance(5)) return place(scene, 'GeoJSONDistance', null)
  const value = columnValue(scene, table, column)
  if (value === undefined) return undefined
  const geometry = place(scene, 'GeoJSON!', toTree(scene, column.type, value))
  const distance = place(scene, 'Float!', draw.pick(distances))
  return place(
    scene,
    'GeoJSONDistance',
    new Map([
      ['geometry', geometry],
      ['distance', distance],
    ]),
  )
}

/** A node id of the table, of one of its rows or of none. */
export function drawToken(scene: Scene, table: ApiTable): string {
  const rows = rowsOf(storeOf(scene.world), table.sketch.name)
  if (rows.length > 0 && (table.sketch.sampled === true || !scene.draw.chance(15)))
    return nodeIdOf(scene.world, table, scene.draw.pick(rows))
  const other = new Map(table.key.map((column) => [column.name, columnValue(scene, table, column) ?? null]))
  return nodeIdOf(scene.world, table, other)
}

function drawNodeId(scene: Scene, table: ApiTable): Tree {
  const { draw } = scene
  scene.tell('operator: nodeId eq')
  if (scene.spoil()) {
    const bad: readonly Tree[] = [
      null,
      encodeToken(['"public"', '"no such table"', '1']),
      'WzFd',
      'not base64!',
      encodeToken(['"public"', JSON.stringify(table.sketch.name), '1', '1', '1', '1']),
    ]
    return new Map([['eq', draw.pick(bad)]])
  }
  return new Map([['eq', place(scene, 'ID', drawToken(scene, table))]])
}
