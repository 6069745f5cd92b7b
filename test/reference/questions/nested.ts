import type { ApiTable } from '../interpreter/api-types.ts'
import { nestedFields, type NestedField } from '../interpreter/nested-api.ts'
import { hasAddition } from '../interpreter/world.ts'
import { place, type Branch, type Tree } from './input.ts'
import { columnValue, isWritable, toTree, type Scene } from './scene.ts'

/** How the parts of an insert are drawn. */
export interface Drawing {
  /** An object for a new row; `given` are the columns that surrounding rows give. */
  readonly row: (table: ApiTable, given: ReadonlySet<string>, meeting: boolean) => Branch
  /** The treatment of existing rows, mostly equal for all rows of a place; undefined: none. */
  readonly conflictAt: (at: string, table: ApiTable) => (() => Tree) | undefined
}

/** The place of a row. */
export interface Spot {
  /** Relations on the path to it. */
  readonly at: string
  readonly given: ReadonlySet<string>
  readonly depth: number
  /** Whether it is often an existing one. */
  readonly meeting: boolean
}

const none: ReadonlySet<string> = new Set()

export const rootSpot = (meeting: boolean): Spot => ({ at: '', given: none, depth: 2, meeting })

/** A new row with related rows, new and existing ones (spec/graphql.md 17.6). */
export function drawNested(scene: Scene, table: ApiTable, drawing: Drawing, spot: Spot): Tree {
  const { draw } = scene
  const { given, depth, meeting } = spot
  const fields = depth === 0 ? [] : nestedFields(scene.world, scene.api, table)
  const taken = new Set(given)
  const entries = fields.flatMap((field): readonly (readonly [string, Tree])[] => {
    const isForward = field.relation.direction === 'forward'
    const isFree = !isForward || field.relation.local.every((column) => !taken.has(column))
    if (!draw.chance(45) || !(isFree || scene.spoil())) return []
    const tree = isForward ? drawParent(scene, field, drawing, spot) : drawChildren(scene, field, drawing, spot)
    if (isForward && isGiven(tree)) for (const column of field.relation.local) taken.add(column)
    return [[field.name, tree]]
  })
  return new Map([...drawing.row(table, taken, meeting), ...entries])
}

/** Whether the input for one related row takes exactly one member (spec/graphql.md 17.5). */
export const takesOne = ({ world }: Scene, { sketch, conflicts }: ApiTable): boolean =>
  hasAddition(world, sketch, 'oneOf') && conflicts.size === 0

/** Whether a row is named at all. */
const isGiven = (tree: Tree): boolean => tree instanceof Map && tree.size > 0

function drawParent(scene: Scene, field: NestedField, drawing: Drawing, spot: Spot): Tree {
  const { draw } = scene
  const { target, inserts, keys } = field
  const isOne = takesOne(scene, target)
  if (draw.chance(5)) return isOne ? null : draw.pick([null, new Map()])
  const isBoth = !isOne && inserts && keys.length > 0 && draw.chance(3) && scene.spoil()
  const connects = keys.length > 0 && (!inserts || draw.chance(50))
  const members: [string, Tree][] = []
  if (connects || isBoth) members.push(['connect', drawKey(scene, field)])
  if (!connects || isBoth) {
    scene.tell('nested: new parent')
    const [conflict, inner] = within(scene, field, drawing, spot, none)
    const object = drawNested(scene, target, drawing, inner)
    members.push(['insert', place(scene, `${target.type}InsertInput${isOne ? '!' : ''}`, object)], ...conflict)
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
  return place(scene, `${target.type}KeyInput${takesOne(scene, target) ? '!' : ''}`, new Map(named))
}

/** The input for the rows of a relation, and their place. */
function within(
  scene: Scene,
  { name, target }: NestedField,
  drawing: Drawing,
  { at, depth }: Spot,
  given: ReadonlySet<string>,
): [conflict: readonly [string, Tree][], inner: Spot] {
  const inner = `${at}.${name}`
  const conflict = drawing.conflictAt(inner, target)
  if (conflict !== undefined) scene.tell('nested: onConflict')
  return [
    conflict === undefined ? [] : [['onConflict', conflict()]],
    { at: inner, given, depth: depth - 1, meeting: conflict !== undefined },
  ]
}

function drawChildren(scene: Scene, field: NestedField, drawing: Drawing, spot: Spot): Tree {
  const { draw } = scene
  const { relation, target } = field
  if (draw.chance(5)) return draw.pick([null, new Map()])
  const [conflict, inner] = within(scene, field, drawing, spot, new Set(relation.foreign))
  const child = (): Tree => drawNested(scene, target, drawing, inner)
  scene.tell('nested: children')
  if (!relation.many) return new Map([['insert', place(scene, `${target.type}InsertInput`, child())], ...conflict])
  const children = Array.from({ length: draw.pick([1, 2, 2, 0]) }, child)
  return new Map([['insert', place(scene, `[${target.type}InsertInput!]`, children)], ...conflict])
}
