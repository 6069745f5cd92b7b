import type { ApiTable } from '../interpreter/api.ts'
import { readOrder } from '../interpreter/page.ts'
import { encodeToken } from '../interpreter/tokens.ts'
import { toTokenText } from '../interpreter/types.ts'
import type { ColumnSketch, Json } from '../interpreter/world.ts'
import { place, type Tree } from './input.ts'
import { columnValue, type Scene } from './scene.ts'

type Arguments = ReadonlyMap<string, Tree>

const directions = ['AscNullsLast', 'AscNullsFirst', 'DescNullsFirst', 'DescNullsLast'] as const

/** An order as JSON: cursors are made for it before it becomes part of the document. */
function drawOrder(scene: Scene, table: ApiTable): readonly (readonly [string, string | null])[] {
  const names = [...table.orders.keys()]
  const count = names.length === 0 ? 0 : scene.draw.pick([0, 1, 1, 2, 3])
  return Array.from({ length: count }, () => {
    const direction = scene.draw.chance(5) ? null : scene.draw.pick(directions)
    scene.tell(`order: ${direction ?? 'null'}`)
    return [scene.draw.pick(names), direction] as const
  })
}

const entry = ([name, direction]: readonly [string, string | null]): Tree =>
  new Map([[name, direction === null ? null : { word: direction }]])

function orderTree(scene: Scene, table: ApiTable, order: readonly (readonly [string, string | null])[]): Arguments {
  const { draw } = scene
  const [first] = order
  if (table.orders.size === 0) return new Map()
  if (first === undefined) return new Map(draw.chance(10) ? [['orderBy', draw.chance(50) ? null : []]] : [])
  const list: Tree = order.length === 1 && draw.chance(20) ? entry(first) : order.map(entry)
  return new Map([['orderBy', place(draw, scene.variables, `[${table.type}OrderBy!]`, list)]])
}

/** A cursor of this order: at a row, at values that no row has, or at a whole tie group (5.5). */
function drawCursor(scene: Scene, table: ApiTable, order: readonly (readonly [string, string | null])[]): string {
  const { draw } = scene
  const terms = readOrder(
    table,
    order.map(([name, direction]): Json => ({ [name]: direction })),
  )
  const row = table.sketch.rows.length > 0 && !draw.chance(15) ? draw.pick(table.sketch.rows) : undefined
  const cell = (column: ColumnSketch): string => {
    if (row !== undefined) return toTokenText(column.type, row[table.sketch.columns.indexOf(column)] ?? null)
    return toTokenText(column.type, draw.chance(25) ? null : (columnValue(scene, table, column) ?? null))
  }
  // A column that is listed twice has one value.
  const known = new Map(terms.map(({ column }) => [column, cell(column)]))
  const cells = terms.map(({ column }) => known.get(column) ?? '')
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
  const { draw } = scene
  const order = drawOrder(scene, table)
  const asked = orderTree(scene, table, order)
  if (scene.spoil()) return new Map([...asked, ...spoiledPage(scene, table, order)])
  const form: readonly string[] = draw.pick(forms)
  scene.tell(`page: ${form.join(' + ') || 'none'}`)
  return new Map([...asked, ...form.map((name) => [name, pageArgument(scene, table, order, name)] as const)])
}

function pageArgument(
  scene: Scene,
  table: ApiTable,
  order: readonly (readonly [string, string | null])[],
  name: string,
): Tree {
  const { draw } = scene
  if (draw.chance(4)) return null
  if (name === 'after' || name === 'before')
    return place(draw, scene.variables, 'Cursor', drawCursor(scene, table, order))
  return place(draw, scene.variables, 'Int', name === 'offset' ? draw.int(5) : draw.pick([1, 2, 3, 0, 5, 100]))
}

function spoiledPage(scene: Scene, table: ApiTable, order: readonly (readonly [string, string | null])[]): Arguments {
  const { draw } = scene
  const kind = draw.int(3)
  scene.tell(`refusal: ${['page form', 'negative page', 'broken cursor'][kind]}`)
  if (kind === 1) return new Map([[draw.pick(['first', 'last', 'offset']), -1]])
  if (kind === 2) {
    const long = encodeToken(Array.from({ length: order.length + table.key.length + 1 }, () => '1'))
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
