import { Refused } from '../interpreter/refusal.ts'
import type { GroupFigure } from '../interpreter/aggregate.ts'
import type { Api, ApiTable } from '../interpreter/api-types.ts'
import { apiTableOf } from '../interpreter/api.ts'
import { readKeys, type GroupKey } from '../interpreter/group-keys.ts'
import { readGroupOrder } from '../interpreter/groups.ts'
import { rowsOf, storeOf } from '../interpreter/store.ts'
import { unitsOf, zones } from '../interpreter/times.ts'
import { encodeToken } from '../interpreter/tokens.ts'
import { operatorsOf, toTokenText } from '../interpreter/types.ts'
import type { ColumnSketch, Json } from '../interpreter/world.ts'
import { drawOperand } from './filter.ts'
import { place, printTree, type Branch, type Tree } from './input.ts'
import { allowsNull, directions, elementJson, entry, type Element } from './page.ts'
import { columnValue, type Scene } from './scene.ts'

/** Documents about groups (spec/graphql.md 17.2). */

interface Way {
  readonly path: readonly string[]
  readonly column: ColumnSketch
}

/** Numbers that are equal may print in more than one way, and which of them a group shows is not specified. */
const hasOneText = ({ type }: ColumnSketch): boolean => type.base !== 'numeric' || type.scale !== undefined

function waysOf(api: Api, table: ApiTable, depth: number): readonly Way[] {
  const columns = [...table.orders].flatMap(([name, column]) => (hasOneText(column) ? [{ path: [name], column }] : []))
  if (depth === 0) return columns
  const related = [...table.groupRelations].flatMap(([name, { target }]) =>
    waysOf(api, apiTableOf(api, target), depth - 1).map(({ path, column }) => ({ path: [name, ...path], column })),
  )
  return [...columns, ...related]
}

/** What a document groups by. */
interface Chosen extends Way {
  readonly unit: string
}

function drawKeys(scene: Scene, ways: readonly Way[]): readonly Chosen[] {
  const { draw } = scene
  const count = draw.pick([1, 1, 2, 3])
  const chosen = new Map<string, Chosen>()
  for (let index = 0; index < count; index += 1) {
    const way = draw.pick(ways)
    const units = unitsOf(way.column.type)
    const unit = units.length > 0 && draw.chance(60) ? draw.pick(units) : 'VALUE'
    scene.tell(`group: ${unit}${way.path.length > 1 ? ', related row' : ''}`)
    chosen.set(way.path.join('.'), { ...way, unit })
  }
  return [...chosen.values()]
}

type Figures = readonly (readonly [name: GroupFigure, field: string, column: ColumnSketch])[]

const figuresOf = (table: ApiTable): Figures =>
  [...table.figures].flatMap(([name, columns]) => [...columns].map(([field, column]) => [name, field, column] as const))

/** The extremes of such numbers may print in more than one way, too. */
const isExact = ([name, , column]: Figures[number]): boolean => (name !== 'min' && name !== 'max') || hasOneText(column)

function drawOrder(scene: Scene, table: ApiTable, keys: readonly Chosen[]): readonly Element[] {
  const { draw } = scene
  const figures = figuresOf(table).filter(isExact)
  return Array.from({ length: draw.pick([0, 1, 1, 2]) }, () => {
    const kind = draw.pick(['key', 'count', ...(figures.length > 0 ? ['figure', 'figure'] : [])])
    const [name, field] = figures.length > 0 ? draw.pick(figures) : ['', '']
    const path =
      kind === 'key' ? ['key', ...draw.pick(keys).path] : kind === 'count' ? ['count'] : [String(name), String(field)]
    scene.tell(`group order: ${path[0]}`)
    return [path, allowsNull(scene) && draw.chance(5) ? null : draw.pick(directions)] as const
  })
}

/** A row may be in no group: where a multiple of a width is none of its type, all are refused. */
function valueOrNull(key: GroupKey, row: Parameters<GroupKey['valueOf']>[0]): ReturnType<GroupKey['valueOf']> {
  try {
    return key.valueOf(row)
  } catch (error) {
    if (error instanceof Refused) return null
    throw error
  }
}

/** The cursor of some group, or of none. */
function drawCursor(
  scene: Scene,
  table: ApiTable,
  by: Json,
  zone: string,
  widths: Json,
  order: readonly Element[],
): string {
  const { draw, world, api } = scene
  const store = storeOf(world)
  const around = { world, api, reach: ({ sketch }: ApiTable) => rowsOf(store, sketch.name) }
  const keys = readKeys(around, table, by, zone, widths)
  const rows = rowsOf(store, table.sketch.name)
  const row = rows.length > 0 && !draw.chance(10) ? draw.pick(rows) : undefined
  const group = new Map(keys.map((key: GroupKey) => [key.id, row === undefined ? null : valueOrNull(key, row)]))
  const terms = readGroupOrder(around, table, keys, order.map(elementJson), () => [])
  const known = new Map(
    terms.map((term) => {
      if (term.id.startsWith('key.')) return [term.id, toTokenText(term.type, term.valueOf(group))]
      if (term.place === null) return [term.id, draw.chance(15) ? 'null' : String(draw.int(5))]
      return [term.id, toTokenText(term.type, columnValue(scene, term.place.table, term.place.column) ?? null)]
    }),
  )
  scene.tell('group cursor')
  const cells = terms.map(({ id }) => known.get(id) ?? 'null')
  return encodeToken(draw.chance(15) ? cells.slice(0, draw.int(cells.length + 1)) : cells)
}

const countColumn: ColumnSketch = {
  name: 'count',
  type: { base: 'int4', list: false, enum: null },
  notNull: true,
  fallback: { kind: 'none' },
  field: null,
}

function drawConditions(
  scene: Scene,
  table: ApiTable,
  [name, field, column]: Figures[number] | ['count', '', ColumnSketch],
): Branch {
  const { draw } = scene
  const isCount = name === 'count' || name === 'countDistinct'
  const isNumber = name === 'sum' || name === 'avg' || isCount
  const operators = isNumber
    ? ['eq', 'gt', 'gte', 'in', 'is', 'lt', 'lte', 'neq']
    : operatorsOf(column.type, {}).filter((operator) => operator !== 'regex' && operator !== 'iregex')
  const operator = draw.pick(operators)
  scene.tell(`having: ${name}`)
  const isInteger = isCount || (name === 'sum' && /^int/.test(column.type.base))
  const type = isCount ? 'Int' : isInteger ? 'BigInt' : 'BigFloat'
  const one = (): Tree => (isCount ? draw.int(4) : isInteger ? String(draw.int(4)) : draw.pick(['0', '1.5', '2', '-1']))
  const operand = !isNumber
    ? drawOperand(scene, table, column, operator)
    : operator === 'is'
      ? { word: draw.pick(['NULL', 'NOT_NULL']) }
      : operator === 'in'
        ? place(scene, `[${type}!]`, [one(), one()])
        : place(scene, type, draw.chance(5) ? null : one())
  const conditions: Branch = new Map(operand === undefined ? [] : [[operator, operand]])
  return new Map([[name, name === 'count' ? conditions : new Map([[field, conditions]])]])
}

function drawHaving(scene: Scene, table: ApiTable, depth = 2): Branch {
  const { draw } = scene
  const figures = figuresOf(table)
  if (depth > 0 && draw.chance(30)) {
    const name = draw.pick(['or', 'and', 'not'] as const)
    scene.tell(`having: ${name}`)
    const inner = (): Branch => drawHaving(scene, table, depth - 1)
    return new Map([[name, name === 'not' ? inner() : Array.from({ length: draw.int(3) }, inner)]])
  }
  if (draw.chance(8)) return new Map()
  return drawConditions(
    scene,
    table,
    figures.length > 0 && draw.chance(55) ? draw.pick(figures) : ['count', '', countColumn],
  )
}

/** Widths of numbers of the table itself; null: none. */
function drawWidths(scene: Scene, keys: readonly Chosen[]): Json {
  const { draw } = scene
  const numbers = keys.filter(
    ({ path, column: { type } }) => path.length === 1 && /^(int[248]|numeric)\b/.test(type.base),
  )
  const chosen = numbers.filter(() => draw.chance(40))
  if (chosen.length === 0) return null
  scene.tell('group widths')
  return Object.fromEntries(
    chosen.map(({ path, column: { type } }) => [
      path[0] ?? '',
      draw.pick(/^int/.test(type.base) ? ['2', '1', '10', '1000'] : ['0.5', '1', '25', '2.50']),
    ]),
  )
}

const byTree = (keys: readonly Chosen[]): Tree => keys.map(({ path, unit }) => entry([path, unit]))

function spoiledBy(scene: Scene, keys: readonly Chosen[]): Tree {
  const [first] = keys
  const kind = allowsNull(scene) ? scene.draw.int(2) : 1
  scene.tell(`refusal: ${['nothing to group by', 'grouped twice'][kind]}`)
  return kind === 0 || first === undefined ? [new Map()] : byTree([...keys, { ...first, unit: 'VALUE' }])
}

/** The member `groups` of a connection, under a key of its own; nothing where there is nothing to group by. */
export function drawGroups(scene: Scene, table: ApiTable): readonly string[] {
  const { draw } = scene
  const ways = waysOf(scene.api, table, 2)
  if (ways.length === 0) return []
  const keys = drawKeys(scene, ways)
  const zone = draw.chance(40) ? draw.pick(Object.keys(zones)) : null
  const by = keys.map(({ path, unit }) => elementJson([path, unit]))
  const widths = drawWidths(scene, keys)
  const order = drawOrder(scene, table, keys)
  const spoiled = scene.spoil()
  const list = spoiled ? spoiledBy(scene, keys) : byTree(keys)
  const args = new Map<string, Tree>([['by', place(scene, `[${table.type}GroupBy!]!`, list)]])
  if (order.length > 0) args.set('orderBy', place(scene, `[${table.type}GroupOrder!]`, order.map(entry)))
  if (draw.chance(45)) args.set('having', place(scene, `${table.type}Having`, drawHaving(scene, table)))
  if (widths !== null && !spoiled) args.set('widths', new Map(Object.entries(widths as Record<string, string>)))
  // As a variable it would be taken for any text.
  if (zone !== null) args.set('timeZone', zone)
  if (draw.chance(40)) args.set('first', place(scene, 'Int', draw.pick([1, 2, 0, 5])))
  if (draw.chance(15)) args.set('offset', place(scene, 'Int', draw.int(3)))
  if (!spoiled && draw.chance(35))
    args.set('after', place(scene, 'Cursor', drawCursor(scene, table, by, zone ?? 'UTC', widths, order)))
  const printed = [...args].map(([name, tree]) => `${name}: ${printTree(tree)}`).join(', ')
  return [`groups${scene.count()}: groups(${printed}) { ${drawMembers(scene, table, keys)} }`]
}

/** What rows are grouped by and in which order the groups come, as values of variables, and the key as it is selected. */
export function drawGrouping(
  scene: Scene,
  table: ApiTable,
): { readonly by: Json; readonly orderBy: Json; readonly key: string } | null {
  const ways = waysOf(scene.api, table, 2)
  if (ways.length === 0) return null
  const keys = drawKeys(scene, ways)
  return {
    by: keys.map(({ path, unit }) => elementJson([path, unit])),
    orderBy: drawOrder(scene, table, keys).map(elementJson),
    key: shownKeys(keys).join(' '),
  }
}

const shownKeys = (keys: readonly Chosen[]): readonly string[] =>
  keys.map(({ path }) => path.reduceRight((inner, name) => (inner === '' ? name : `${name} { ${inner} }`), ''))

function drawMembers(scene: Scene, table: ApiTable, keys: readonly Chosen[]): string {
  const { draw } = scene
  const figures: string[] = draw.some(figuresOf(table), 30).map(([name, field]) => `${name} { ${field} }`)
  const measured = [...(table.figures.get('sum')?.keys() ?? [])]
  if (measured.length > 0 && draw.chance(40)) {
    scene.tell('percentile')
    const at = scene.spoil() ? draw.pick([-0.5, 1.5]) : draw.pick([0.5, 0, 1, 0.9, 0.25])
    figures.push(
      `part${scene.count()}: percentile(at: ${printTree(place(scene, 'Float!', at))}) { ${draw.pick(measured)} }`,
    )
  }
  const listed = [...(table.figures.get('countDistinct') ?? [])].filter(([, column]) => hasOneText(column))
  if (listed.length > 0 && draw.chance(40)) {
    scene.tell('listed values')
    const atMost = scene.spoil() ? -1 : draw.pick([0, 1, 2, 3, 1_000])
    const names = draw.some(listed, 40).map(([name]) => name)
    figures.push(
      `listed${scene.count()}: values(atMost: ${printTree(place(scene, 'Int!', atMost))}) { __typename ${names.join(' ')} }`,
    )
  }
  const optional = ['cursor', 'count', '__typename', ...figures].filter(() => draw.chance(60))
  return [`key { ${shownKeys(keys).join(' ')} }`, ...optional].join(' ')
}
