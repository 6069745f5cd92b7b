import type { Api, ApiTable } from '../interpreter/api-types.ts'
import { apiTableOf } from '../interpreter/api.ts'
import { defaultOrder, readOrder, type Term } from '../interpreter/page.ts'
import { rowsOf, storeOf } from '../interpreter/store.ts'
import { encodeToken } from '../interpreter/tokens.ts'
import { elementText } from '../interpreter/elements.ts'
import { hasAddition, type Json } from '../interpreter/world.ts'
import type { Draw } from './draw.ts'
import { place, type Tree } from './input.ts'
import { columnValue, type Scene } from './scene.ts'
import { drawWord } from './value-filter.ts'

type Arguments = ReadonlyMap<string, Tree>

export const directions = ['AscNullsLast', 'AscNullsFirst', 'DescNullsFirst', 'DescNullsLast'] as const

/** One element of an order: names from the outside to the inside, the direction, and for a rank the query. */
export type Element = readonly [path: readonly string[], direction: string | null, query?: string]

/** Something that rows of the table can be sorted by: a column, a value of a related row, a count of related rows. */
export function drawPath(draw: Draw, api: Api, table: ApiTable, depth = 2): readonly string[] {
  const relations = depth === 0 ? [] : [...table.orderRelations]
  if (table.orders.size > 0 && (relations.length === 0 || !draw.chance(40)))
    return [draw.pick([...table.orders.keys(), ...table.ranks.keys()])]
  const [name, relation] = draw.pick(relations)
  return [name, ...(relation.many ? ['count'] : drawPath(draw, api, apiTableOf(api, relation.target), depth - 1))]
}

/** An element as JSON, as it stands in a variable. */
export const elementJson = ([path, direction, query]: Element): Json =>
  path.reduceRight<Json>(
    (inner, name) => ({ [name]: inner }),
    query === undefined || direction === null ? direction : { query, config: 'simple', direction },
  )

/** An order as its elements: cursors are made for it before it becomes part of the document. */
function drawOrder(scene: Scene, table: ApiTable): readonly Element[] {
  const { draw, api } = scene
  const count = isSortable(table) ? draw.pick([0, 1, 1, 2, 3]) : 0
  return Array.from({ length: count }, () => {
    const direction = allowsNull(scene) && draw.chance(5) ? null : draw.pick(directions)
    const path = drawPath(draw, api, table)
    const kind = path.length === 1 ? '' : path[path.length - 1] === 'count' ? ', related count' : ', related row'
    scene.tell(`order: ${direction ?? 'null'}${kind}`)
    return drawElement(draw, api, table, path, direction)
  })
}

/** Whether an order may be null: not if some table's input takes exactly one member. */
export const allowsNull = ({ world }: Scene): boolean =>
  !world.tables.some((table) => hasAddition(world, table, 'oneOf'))

/** An element of a path, with a query if it is a rank. */
export const drawElement = (
  draw: Draw,
  api: Api,
  table: ApiTable,
  path: readonly string[],
  direction: string | null,
): Element => (isRank(api, table, path) ? [path, direction, drawWord(draw)] : [path, direction])

/** Whether a path ends in a rank. */
function isRank(api: Api, table: ApiTable, [name = '', ...rest]: readonly string[]): boolean {
  const relation = table.orderRelations.get(name)
  return relation === undefined || rest.length === 0
    ? table.ranks.has(name)
    : isRank(api, apiTableOf(api, relation.target), rest)
}

const isSortable = (table: ApiTable): boolean => table.orders.size + table.orderRelations.size > 0

export const entry = ([path, direction, query]: Element): Tree =>
  path.reduceRight<Tree>((inner, name) => new Map([[name, inner]]), leaf(direction, query))

function leaf(direction: string | null, query: string | undefined): Tree {
  if (direction === null) return null
  if (query === undefined) return { word: direction }
  return new Map<string, Tree>([
    ['query', query],
    ['config', 'simple'],
    ['direction', { word: direction }],
  ])
}

function orderTree(scene: Scene, table: ApiTable, order: readonly Element[]): Arguments {
  const { draw } = scene
  const [first] = order
  if (!isSortable(table)) return new Map()
  if (first === undefined) return new Map(draw.chance(10) ? [['orderBy', draw.chance(50) ? null : []]] : [])
  const list: Tree = order.length === 1 && draw.chance(20) ? entry(first) : order.map(entry)
  return new Map([['orderBy', place(scene, `[${table.type}OrderBy!]`, list)]])
}

/** `distinctOn`, mostly left out. */
function drawDistinct(scene: Scene, table: ApiTable): Arguments {
  const { draw } = scene
  if (table.distinct.size === 0 || !draw.chance(30)) return new Map()
  const chosen = draw.some([...table.distinct.keys()], 35)
  scene.tell(`distinctOn: ${chosen.length > 1 ? 'several' : chosen.length === 1 ? 'one' : 'none'}`)
  const list = chosen.length === 0 && draw.chance(30) ? null : chosen.map((word): Tree => ({ word }))
  const [only] = chosen
  const tree = chosen.length === 1 && only !== undefined && draw.chance(20) ? { word: only } : list
  return new Map([['distinctOn', place(scene, `[${table.type}DistinctField!]`, tree)]])
}

/** A cursor of this order: at a row, at values that no row has, or at a whole tie group (spec/graphql.md 5.5). */
function drawCursor(scene: Scene, table: ApiTable, order: Json | undefined): string {
  const { draw, world, api } = scene
  const store = storeOf(world)
  const around = { world, api, reach: ({ sketch }: ApiTable) => rowsOf(store, sketch.name) }
  const terms = readOrder(around, table, order)
  const rows = rowsOf(store, table.sketch.name)
  const row = rows.length > 0 && !draw.chance(15) ? draw.pick(rows) : undefined
  const cell = (term: Term): string => {
    if (row !== undefined) return elementText(world, term.type, term.valueOf(row))
    if (draw.chance(25)) return 'null'
    if (term.place === null) return term.type.base === 'float8' ? '0.06' : String(draw.int(4))
    const value = columnValue(scene, term.place.table, term.place.column)
    return elementText(world, term.type, value ?? null)
  }
  // A column that is listed twice has one value.
  const known = new Map(terms.map((term) => [term.id, cell(term)]))
  const cells = terms.map(({ id }) => known.get(id) ?? '')
  const isPrefix = draw.chance(15)
  scene.tell(`cursor: ${row === undefined ? 'of no row' : 'of a row'}${isPrefix ? ', fewer elements' : ''}`)
  return encodeToken(isPrefix ? cells.slice(0, draw.int(cells.length + 1)) : cells)
}

const forms = [
  [],
  ['first'],
  ['first', 'after'],
  ['last'],
  ['last', 'before'],
  ['after'],
  ['before'],
  ['offset'],
  ['first', 'offset'],
  ['first', 'after', 'offset'],
] as const

const badForms = [
  ['first', 'last'],
  ['before', 'after'],
  ['first', 'before'],
  ['last', 'after'],
  ['last', 'offset'],
  ['before', 'offset'],
] as const

/** Order and page of a connection field. */
export function drawPage(scene: Scene, table: ApiTable): Arguments {
  const order = drawOrder(scene, table)
  const given = orderTree(scene, table, order)
  const asked = new Map([...given, ...drawDistinct(scene, table)])
  const meant = given.has('orderBy') ? order.map(elementJson) : undefined
  if (scene.spoil()) return new Map([...asked, ...spoiledPage(scene, table, meant)])
  return new Map([...asked, ...drawForm(scene, () => drawCursor(scene, table, meant))])
}

/** The arguments that select a page. */
export function drawForm(scene: Scene, cursor: () => string): Arguments {
  const form: readonly string[] = scene.draw.pick(forms)
  scene.tell(`page: ${form.join(' + ') || 'none'}`)
  return new Map(form.map((name) => [name, pageArgument(scene, cursor, name)] as const))
}

function pageArgument(scene: Scene, cursor: () => string, name: string): Tree {
  const { draw } = scene
  if (draw.chance(4)) return null
  if (name === 'after' || name === 'before') return place(scene, 'Cursor', cursor())
  return place(scene, 'Int', name === 'offset' ? draw.int(5) : draw.pick([1, 2, 3, 0, 5, 100]))
}

function spoiledPage(scene: Scene, table: ApiTable, order: readonly Json[] | undefined): Arguments {
  const { draw } = scene
  const kind = draw.int(3)
  scene.tell(`refusal: ${['page form', 'negative page', 'broken cursor'][kind]}`)
  if (kind === 1) return new Map([[draw.pick(['first', 'last', 'offset']), place(scene, 'Int', -1)]])
  if (kind === 2) {
    const count = (order ?? defaultOrder(table)).length + table.key.length + 1
    const long = encodeToken(Array.from({ length: count }, () => '1'))
    return new Map([['after', draw.pick([long, 'not base64', 'e30=', 'W10'])]])
  }
  const form: readonly string[] = draw.pick(badForms)
  return new Map(
    form.map((name): [string, Tree] => [
      name,
      name === 'after' || name === 'before' ? drawCursor(scene, table, order) : 1,
    ]),
  )
}
