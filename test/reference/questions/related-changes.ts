import type { ApiTable, RowWrite } from '../interpreter/api-types.ts'
import { relatedArgument, type ChangedField, type RelatedMember } from '../interpreter/related-api.ts'
import { columnNamed, type ColumnSketch } from '../interpreter/world.ts'
import { absent, place, type Tree } from './input.ts'
import { isWritableKey, keyValues, type SketchRow } from './key-arguments.ts'
import { drawNested, takesOne, type Drawing } from './nested.ts'
import { columnValue, isWritable, toTree, type Scene } from './scene.ts'

/** How related rows in an update by key are drawn (spec/graphql.md 17.6). */

export interface RelatedDrawing extends Drawing {
  readonly set: (table: ApiTable, isFree: (column: ColumnSketch) => boolean) => Tree
}

/** @param row the updated row, if it exists */
export function drawRelated(
  scene: Scene,
  field: RowWrite,
  drawing: RelatedDrawing,
  row: SketchRow | undefined,
): { readonly tree: Tree; /** Columns of the row that relations give. */ readonly given: ReadonlySet<string> } {
  const { draw } = scene
  const given = new Set<string>()
  const entries = draw
    .some([...relatedArgument(scene.world, scene.api, field)], 55)
    .flatMap((one): readonly (readonly [string, Tree])[] => {
      const { local, direction } = one.relation
      if (direction === 'forward' && local.some((name) => given.has(name)) && !scene.spoil()) return []
      const related = rowsThere(field.table, one, row)
      const tree = drawChange(scene, one, drawing, related)
      if (direction === 'forward') for (const name of local) given.add(name)
      return [[one.name, place(scene, one.target.type + one.type, tree)]]
    })
  scene.tell(entries.length === 0 ? 'related: nothing' : 'related: rows')
  return { tree: place(scene, `${field.table.type}RelatedInput`, new Map(entries)), given }
}

/** Child rows, or the parent row. */
function rowsThere(
  table: ApiTable,
  { relation, target }: ChangedField,
  row: SketchRow | undefined,
): readonly SketchRow[] {
  if (row === undefined) return []
  const [here, there] = [table.sketch, target.sketch]
  return there.rows.filter((other) =>
    relation.local.every((name, index) => {
      const value = row[here.columns.indexOf(columnNamed(here, name))] ?? null
      return value !== null && value === other[there.columns.indexOf(columnNamed(there, relation.foreign[index] ?? ''))]
    }),
  )
}

function drawChange(scene: Scene, field: ChangedField, drawing: RelatedDrawing, related: readonly SketchRow[]): Tree {
  const { draw } = scene
  if (draw.chance(4)) return null
  const isMany = field.relation.many
  const usable = field.members.filter(
    (member) =>
      (member !== 'update' || !isMany || isWritableKey(scene, field.rowKey ?? new Map())) &&
      (related.length > 0 || member === 'insert' || member === 'connect' || draw.chance(12)),
  )
  const isOne = !isMany && takesOne(scene, field.target)
  if (usable.length === 0) return isOne ? null : new Map()
  const isTwofold = !isMany && !isOne && draw.chance(3) && scene.spoil()
  const members = isMany ? draw.some(usable, 40) : isTwofold ? usable.slice(0, 2) : [draw.pick(usable)]
  return new Map(members.flatMap((member) => drawMember(scene, field, drawing, related, member)))
}

function drawMember(
  scene: Scene,
  field: ChangedField,
  drawing: RelatedDrawing,
  related: readonly SketchRow[],
  member: RelatedMember,
): readonly (readonly [string, Tree])[] {
  const { draw } = scene
  const { relation, target, rowKey } = field
  const isMany = relation.many
  const isOne = !isMany && takesOne(scene, target)
  const mark = isOne ? '!' : ''
  scene.tell(`related: ${member} ${relation.direction}${isMany ? ' many' : ''}`)
  const few = (): readonly number[] => Array.from({ length: draw.pick([1, 1, 2, 0]) }, (_, index) => index)
  switch (member) {
    case 'insert': {
      const at = `.${field.name}`
      const conflict = drawing.conflictAt(at, target)
      const outer = relation.direction === 'forward' ? [] : relation.foreign
      const spot = { at, given: new Set(outer), depth: draw.pick([0, 1]), meeting: conflict !== undefined }
      const object = (): Tree => drawNested(scene, target, drawing, spot)
      const [type, tree] = isMany
        ? [`[${target.type}InsertInput!]`, few().map(object)]
        : [`${target.type}InsertInput${mark}`, object()]
      return [
        ['insert', place(scene, type, tree)],
        ...(conflict === undefined ? [] : [['onConflict', conflict()] as const]),
      ]
    }
    case 'update': {
      if (!isMany) return [['update', drawing.set(target, () => true)]]
      const rows = few().map(
        (index): Tree =>
          new Map([
            ...keyValues(scene, target, rowKey ?? new Map(), pickRow(scene, target, related, index)),
            ['set', drawing.set(target, () => true)],
          ]),
      )
      return [['update', place(scene, `[${target.type}RowInput!]`, rows)]]
    }
    case 'connect':
    case 'disconnect':
    case 'delete': {
      const isFlag = member !== 'connect' && !isMany
      if (isFlag && !isOne && draw.chance(5)) return [[member, absent(scene, 'Boolean')]]
      if (isFlag) return [[member, place(scene, `Boolean${mark}`, draw.chance(90))]]
      const keyOf = (index: number): Tree => {
        const rows = member === 'connect' ? target.sketch.rows : related
        const entries = drawKey(scene, field, pickRow(scene, target, rows, index), field.keys)
        return new Map(draw.chance(2) && scene.spoil() ? entries.slice(1) : entries)
      }
      return isMany
        ? [[member, place(scene, `[${target.type}KeyInput!]`, few().map(keyOf))]]
        : [[member, place(scene, `${target.type}KeyInput${mark}`, keyOf(0))]]
    }
  }
}

/** Mostly one of these, a different one for each index. */
function pickRow(
  { draw }: Scene,
  { sketch }: ApiTable,
  rows: readonly SketchRow[],
  index: number,
): SketchRow | undefined {
  if (draw.chance(8) && sketch.rows.length > 0) return draw.pick(sketch.rows)
  return rows.length === 0 ? undefined : draw.chance(90) ? rows[index % rows.length] : draw.pick(rows)
}

/** The columns of one of the keys. */
function drawKey(
  scene: Scene,
  { target }: ChangedField,
  row: SketchRow | undefined,
  keys: ChangedField['keys'],
): readonly (readonly [string, Tree])[] {
  return [...scene.draw.pick(keys)].map(([name, column]): readonly [string, Tree] => {
    const value = row?.[target.sketch.columns.indexOf(column)] ?? columnValue(scene, target, column) ?? null
    const isFree = value !== null && isWritable(scene, column.type, value)
    return [name, isFree ? toTree(scene, column.type, value) : null]
  })
}
