import type { ApiTable } from '../interpreter/api-types.ts'
import type { ColumnSketch, Value } from '../interpreter/world.ts'
import { drawDeleted } from './deleted.ts'
import { place, type Tree } from './input.ts'
import { columnValue, inputType, isWritable, toTree, writableOf, type Scene } from './scene.ts'
import { printArguments } from './selection.ts'

/** Keys of rows as arguments (spec/graphql.md 7.3). */

export const isWritableKey = (scene: Scene, key: ReadonlyMap<string, ColumnSketch>): boolean =>
  [...key.values()].every(({ type }) => writableOf(scene, type) !== undefined)

export const keyArguments = (scene: Scene, table: ApiTable, columns: ReadonlyMap<string, ColumnSketch>): string =>
  printArguments(withKey(drawDeleted(scene, table), keyValues(scene, table, columns)))

/** Columns of a key keep their names. */
export const withKey = (
  others: readonly (readonly [string, Tree])[],
  key: readonly (readonly [string, Tree])[],
): ReadonlyMap<string, Tree> => new Map([...others, ...key])

/** The cells of a row that is there. */
export type SketchRow = readonly Value[]

/** Mostly an existing one. */
export function drawnRow({ draw }: Scene, { sketch }: ApiTable): SketchRow | undefined {
  const isOfRow = sketch.rows.length > 0 && (sketch.sampled === true || !draw.chance(15))
  return isOfRow ? draw.pick(sketch.rows) : undefined
}

/** The key of a row, mostly an existing one. */
export function keyValues(
  scene: Scene,
  table: ApiTable,
  key: ReadonlyMap<string, ColumnSketch>,
  row: SketchRow | undefined = drawnRow(scene, table),
): readonly (readonly [string, Tree])[] {
  return [...key].map(([name, column]) => {
    const value = row?.[table.sketch.columns.indexOf(column)] ?? columnValue(scene, table, column)
    return [name, toKey(scene, column, value ?? null)]
  })
}

/** Key values that GraphQL cannot write (labels that are invalid names) are replaced by one that it can. */
function toKey(scene: Scene, column: ColumnSketch, value: Value): Tree {
  const type = `${inputType(scene, column.type)}!`
  if (value !== null && isWritable(scene, column.type, value))
    return place(scene, type, toTree(scene, column.type, value))
  return toTree(scene, column.type, writableOf(scene, column.type) ?? '')
}
