import type { Api, ApiTable } from '../interpreter/api-types.ts'
import { isEnumName } from '../interpreter/names.ts'
import { crsOf } from '../interpreter/geometry.ts'
import { rulesOf } from '../interpreter/types.ts'
import type { ColumnSketch, ColumnType, EnumSketch, Json, Value, World } from '../interpreter/world.ts'
import type { Placing, Tree } from './input.ts'
import { drawValue, poolOf } from './values.ts'

/** The context of drawing the parts of a document. */
export interface Scene extends Placing {
  readonly world: World
  readonly api: Api
  readonly fragments: string[]
  /** Present if no two fields may share a key: those of different types in one place. */
  readonly apart?: true
  /** A fresh number. */
  readonly count: () => number
  /** True in a document that should be refused, until the reason is drawn. */
  readonly spoil: () => boolean
}

const enumOf = (scene: Scene, type: ColumnType): EnumSketch | undefined =>
  scene.world.enums.find((item) => item.name === type.enum)

/** The type of a column in GraphQL. */
export function inputType(scene: Scene, type: ColumnType): string {
  const kind = enumOf(scene, type)
  return kind === undefined ? rulesOf(type).graphql : enumName(scene.world, kind)
}

/** The name of an enum's type. */
export const enumName = (world: World, kind: EnumSketch): string =>
  kind.typeName ??
  (world.inflects
    ? kind.name.replace(/(^|_)([a-z])/g, (_all, _before, letter: string) => letter.toUpperCase()).replaceAll('_', '')
    : kind.name)

/**
 * Whether a value can be written in GraphQL: labels that are invalid names and have no mapping cannot (spec/graphql.md
 * 3.2).
 */
export function isWritable(scene: Scene, type: ColumnType, value: Value): boolean {
  const kind = enumOf(scene, type)
  if (kind === undefined || value === null) return true
  if (Array.isArray(value)) return value.every((item) => isWritable(scene, { ...type, list: false }, item as Value))
  return isEnumName(kind.mappings[String(value)] ?? String(value))
}

/** Some value of the type that can be written; undefined if the interpreter knows none. */
export const writableOf = (scene: Scene, type: ColumnType): string | number | boolean | undefined =>
  poolOf(scene.world, type).find((value) => isWritable(scene, type, value))

/** JSON as a literal, its objects with bare names. */
const treeOf = (json: Json): Tree => {
  if (Array.isArray(json)) return json.map(treeOf)
  if (typeof json !== 'object' || json === null) return json
  return new Map(Object.entries(json).map(([name, value]) => [name, treeOf(value)]))
}

/** Systems with equal coordinates: ETRS 89, WGS 84 and NAD 83, which PROJ treats as one here. */
const alike = [4258, 4326, 4269]

/** The reference system of an input: none, the column's, or one with a transformation. */
function drawCrs({ draw, tell }: Scene, srid: number | undefined): object {
  if (srid === undefined || !draw.chance(50)) return {}
  const given = alike.includes(srid) ? draw.pick(alike) : srid
  if (given !== srid) tell('other: geometry of another reference system')
  return crsOf(given)
}

/** A value that is not null as an input. */
export function toTree(scene: Scene, type: ColumnType, value: Exclude<Value, null>): Tree {
  if (Array.isArray(value))
    return value.map((item): Tree => (item === null ? null : toTree(scene, { ...type, list: false }, item)))
  const kind = enumOf(scene, type)
  if (kind !== undefined) return { word: kind.mappings[String(value)] ?? String(value) }
  if (type.base === 'geometry') {
    return treeOf({ ...(JSON.parse(String(value)) as object), ...drawCrs(scene, type.srid) })
  }
  if (type.base === 'int8' && scene.draw.chance(30) && Number.isSafeInteger(Number(value))) return Number(value)
  return value as string
}

/** A value of a column, mostly an existing one. */
export function columnValue(
  scene: Scene,
  table: ApiTable,
  column: ColumnSketch,
  nulls = false,
): Exclude<Value, null> | undefined {
  const { draw } = scene
  const position = table.sketch.columns.indexOf(column)
  const present = table.sketch.rows.map((row) => row[position] ?? null).filter((value) => value !== null)
  const usable = (value: Exclude<Value, null>): boolean =>
    isWritable(scene, column.type, value) && (nulls || !Array.isArray(value) || !value.includes(null))
  const { base, list } = column.type
  const isDrawn = list || base === 'composite' || poolOf(scene.world, column.type).length > 0
  if (present.length === 0 && !isDrawn) return undefined
  const found =
    present.length > 0 && (!isDrawn || !draw.chance(30))
      ? draw.pick(present)
      : drawValue(draw, scene.world, column.type, nulls)
  return usable(found) ? found : undefined
}
