import type { ApiTable } from '../interpreter/api-types.ts'
import { nestedFields, type NestedField } from '../interpreter/nested-api.ts'
import { place, type Branch, type Tree } from './input.ts'
import { columnValue, isWritable, toTree, type Scene } from './scene.ts'

/**
 * Draws an object for a new row; `given` are the columns that rows around it give.
 */
type DrawRow = (table: ApiTable, given: ReadonlySet<string>) => Branch

const none: ReadonlySet<string> = new Set()

/** A new row with rows that are related to it, new and existing ones (spec/graphql.md 17.6). */
export function drawNested(
  scene: Scene,
  table: ApiTable,
  drawRow: DrawRow,
  given: ReadonlySet<string> = none,
  depth = 2,
): Tree {
  const { draw } = scene
  const fields = depth === 0 ? [] : nestedFields(scene.world, scene.api, table)
  const taken = new Set(given)
  const entries = fields.flatMap((field): readonly (readonly [string, Tree])[] => {
    const isForward = field.relation.direction === 'forward'
    const isFree = !isForward || field.relation.local.every((column) => !taken.has(column))
    if (!draw.chance(45) || !(isFree || scene.spoil())) return []
    const tree = isForward ? drawParent(scene, field, drawRow, depth) : drawChildren(scene, field, drawRow, depth)
    if (isForward && isGiven(tree)) for (const column of field.relation.local) taken.add(column)
    return [[field.name, tree]]
  })
  return new Map([...drawRow(table, taken), ...entries])
}

/** Whether a row is named at all. */
const isGiven = (tree: Tree): boolean => tree instanceof Map && tree.size > 0

function drawParent(scene: Scene, field: NestedField, drawRow: DrawRow, depth: number): Tree {
  const { draw } = scene
  const { target, inserts, keys } = field
  if (draw.chance(5)) return draw.pick([null, new Map()])
  const isBoth = inserts && keys.length > 0 && draw.chance(3) && scene.spoil()
  const connects = keys.length > 0 && (!inserts || draw.chance(50))
  const members: [string, Tree][] = []
  if (connects || isBoth) members.push(['connect', drawKey(scene, field)])
  if (!connects || isBoth) {
    scene.tell('nested: new parent')
    const object = drawNested(scene, target, drawRow, none, depth - 1)
    members.push(['insert', place(scene, `${target.type}InsertInput`, object)])
  }
  return new Map(members)
}

/** The key of a row that is there, mostly. */
function drawKey(scene: Scene, { target, keys }: NestedField): Tree {
  const { draw } = scene
  const key = draw.pick(keys)
  const { rows, columns } = target.sketch
  const row = rows.length === 0 || draw.chance(5) ? undefined : draw.pick(rows)
  scene.tell('nested: connect')
  const entries = [...key].map(([name, column]): readonly [string, Tree] => {
    const value = row?.[columns.indexOf(column)] ?? columnValue(scene, target, column) ?? null
    return [name, value === null || !isWritable(scene, column.type, value) ? null : toTree(scene, column.type, value)]
  })
  const named = draw.chance(2) && scene.spoil() ? entries.slice(1) : entries
  return place(scene, `${target.type}KeyInput`, new Map(named))
}

function drawChildren(scene: Scene, field: NestedField, drawRow: DrawRow, depth: number): Tree {
  const { draw } = scene
  const { relation, target } = field
  if (draw.chance(5)) return draw.pick([null, new Map()])
  const given = new Set(relation.foreign)
  const child = (): Tree => drawNested(scene, target, drawRow, given, depth - 1)
  scene.tell('nested: children')
  if (!relation.many) return new Map([['insert', place(scene, `${target.type}InsertInput`, child())]])
  const children = Array.from({ length: draw.pick([1, 2, 2, 0]) }, child)
  return new Map([['insert', place(scene, `[${target.type}InsertInput!]`, children)]])
}
