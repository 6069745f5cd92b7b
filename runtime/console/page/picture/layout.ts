import type { Graph, GraphField, GraphType, Relation } from './graph.ts'

/** The positions of all parts of the picture, in its own pixels. */
export interface Layout {
  readonly width: number
  readonly height: number
  readonly boxes: readonly Box[]
  readonly lines: readonly Line[]
}

export interface Box {
  readonly type: GraphType
  /** The visible fields; if there are too many, those with lines are among them. */
  readonly fields: readonly GraphField[]
  readonly x: number
  readonly y: number
  readonly height: number
}

export interface Line {
  readonly relation: Relation
  readonly path: string
}

export const boxWidth = 288
export const rowHeight = 20
/** The maximum of visible fields per box; the rest is counted. */
const mostFields = 16

const gapX = 90
const gapY = 24
const margin = 24
/** A higher column continues in the next one, unless the picture would become much wider than high. */
const leastLimit = 2_400

const heightOf = ({ fields }: GraphType): number =>
  (1 + Math.min(fields.length, mostFields) + (fields.length > mostFields ? 1 : 0)) * rowHeight + 8

/**
 * Columns from left to right: referenced types are left of referencing ones, and types without relations come last.
 * Within a column a type is placed near its neighbours, so that lines stay short.
 */
export function layOut(graph: Graph): Layout {
  const limit = heightLimit(graph.types)
  const columns = columnsOf(graph).flatMap((column) => splitColumn(column, limit))
  const boxes = columns.flatMap((column, index) => placeColumn(column, index, graph.relations))
  const byName = new Map(boxes.map((box) => [box.type.name, box]))
  return {
    // The last column's curves need as much room as lines between columns.
    width: columns.length * (boxWidth + gapX) + 2 * margin,
    height: Math.max(0, ...boxes.map(({ y, height }) => y + height)) + margin,
    boxes,
    lines: graph.relations.flatMap((relation) => lineOf(relation, byName)),
  }
}

type Column = readonly GraphType[]

function columnsOf({ types, relations }: Graph): readonly Column[] {
  const ranks = rankTypes(types, relations)
  const related = new Set(relations.flatMap(({ from, to }) => [from, to]))
  const last = Math.max(-1, ...types.filter(({ name }) => related.has(name)).map(({ name }) => ranks.get(name) ?? 0))
  const ranked = Array.from({ length: last + 1 }, (_, rank) =>
    types.filter(({ name }) => related.has(name) && ranks.get(name) === rank),
  )
  const alone = types.filter(({ name }) => !related.has(name))
  return [...settleColumns(ranked, relations), alone].filter((column) => column.length > 0)
}

/** The longest path to a type without references; in a cycle, the closing edge is not counted. */
function rankTypes(types: readonly GraphType[], relations: readonly Relation[]): ReadonlyMap<string, number> {
  const targets = new Map(types.map(({ name }) => [name, [] as string[]]))
  for (const { from, to } of relations) if (from !== to) targets.get(from)?.push(to)
  const ranks = new Map<string, number>()
  const open = new Set<string>()
  const rankOf = (name: string): number => {
    const known = ranks.get(name)
    if (known !== undefined) return known
    open.add(name)
    const below = (targets.get(name) ?? []).filter((target) => !open.has(target)).map(rankOf)
    open.delete(name)
    const rank = Math.max(-1, ...below) + 1
    ranks.set(name, rank)
    return rank
  }
  for (const { name } of types) rankOf(name)
  return ranks
}

const sweeps = 4

/** Sorts each column by the positions of its types' neighbours, a few times in both directions. */
function settleColumns(columns: readonly Column[], relations: readonly Relation[]): readonly Column[] {
  const neighbours = neighboursOf(relations)
  let settled = columns
  for (let sweep = 0; sweep < sweeps; sweep += 1) {
    const placed = settled.flatMap((column) => column.map(({ name }, at) => [name, at / column.length] as const))
    const places = new Map(placed)
    const weightOf = (name: string): number => mean((neighbours.get(name) ?? []).map((one) => places.get(one) ?? 0))
    const weights = new Map(placed.map(([name]) => [name, weightOf(name)]))
    const weight = ({ name }: GraphType): number => weights.get(name) ?? 0
    settled = settled.map((column) => [...column].sort((a, b) => weight(a) - weight(b)))
  }
  return settled
}

function neighboursOf(relations: readonly Relation[]): ReadonlyMap<string, readonly string[]> {
  const neighbours = new Map<string, string[]>()
  const add = (name: string, other: string): void => {
    neighbours.set(name, [...(neighbours.get(name) ?? []), other])
  }
  for (const { from, to } of relations) {
    add(from, to)
    add(to, from)
  }
  return neighbours
}

const mean = (numbers: readonly number[]): number =>
  numbers.length === 0 ? 0 : numbers.reduce((sum, one) => sum + one, 0) / numbers.length

function heightLimit(types: readonly GraphType[]): number {
  const area = types.reduce((sum, type) => sum + (heightOf(type) + gapY) * (boxWidth + gapX), 0)
  return Math.max(leastLimit, Math.sqrt(area))
}

function splitColumn(column: Column, limit: number): readonly Column[] {
  const parts: GraphType[][] = [[]]
  let height = 0
  for (const type of column) {
    height += heightOf(type) + gapY
    if (height > limit && (parts.at(-1)?.length ?? 0) > 0) {
      parts.push([])
      height = heightOf(type) + gapY
    }
    parts.at(-1)?.push(type)
  }
  return parts
}

function placeColumn(column: Column, index: number, relations: readonly Relation[]): readonly Box[] {
  let y = margin
  return column.map((type) => {
    const height = heightOf(type)
    const box = { type, fields: shownFields(type, relations), x: margin + index * (boxWidth + gapX), y, height }
    y += height + gapY
    return box
  })
}

function shownFields({ name, fields }: GraphType, relations: readonly Relation[]): readonly GraphField[] {
  if (fields.length <= mostFields) return fields
  const leading = new Set(relations.filter(({ from }) => from === name).map(({ field }) => field))
  const places = fields.map((field, place) => ({ place, first: leading.has(field.name) }))
  const chosen = places.sort((a, b) => Number(b.first) - Number(a.first)).slice(0, mostFields)
  return chosen
    .map(({ place }) => place)
    .sort((a, b) => a - b)
    .flatMap((place) => fields[place] ?? [])
}

/** From the referencing field to the head of the referenced type; within a column as a curve around it. */
function lineOf(relation: Relation, boxes: ReadonlyMap<string, Box>): readonly Line[] {
  const [from, to] = [boxes.get(relation.from), boxes.get(relation.to)]
  if (from === undefined || to === undefined) return []
  const found = from.fields.findIndex(({ name }) => name === relation.field)
  const row = found === -1 ? from.fields.length : found
  const startY = from.y + (row + 1.5) * rowHeight
  const endY = to.y + rowHeight / 2
  const toLeft = to.x < from.x
  const startX = toLeft ? from.x : from.x + boxWidth
  const endX = to.x > from.x ? to.x : to.x + boxWidth
  const reach = to.x === from.x ? gapX / 2 : Math.max(40, Math.abs(endX - startX) / 2)
  const [out, back] = [toLeft ? -reach : reach, to.x > from.x ? -reach : reach]
  return [{ relation, path: `M${startX} ${startY} C${startX + out} ${startY} ${endX + back} ${endY} ${endX} ${endY}` }]
}
