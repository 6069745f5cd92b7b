import type { Api, ApiTable } from '../interpreter/api-types.ts'
import { apiTableOf } from '../interpreter/api.ts'
import { recurringMember, recurringOf, unitsOf } from '../interpreter/times.ts'
import type { ColumnSketch } from '../interpreter/world.ts'
import type { Tree } from './input.ts'
import { entry } from './page.ts'
import type { Scene } from './scene.ts'

/** The drawn keys of groups (spec/graphql.md 17.2). */

export interface Way {
  readonly path: readonly string[]
  readonly column: ColumnSketch
}

/** Equal numbers may print differently, and the printed one is unspecified for a group. */
export const hasOneText = ({ type }: ColumnSketch): boolean => type.base !== 'numeric' || type.scale !== undefined

export function waysOf(api: Api, table: ApiTable, depth: number): readonly Way[] {
  const columns = [...table.orders].flatMap(([name, column]) => (hasOneText(column) ? [{ path: [name], column }] : []))
  if (depth === 0) return columns
  const related = [...table.groupRelations].flatMap(([name, { target }]) =>
    waysOf(api, apiTableOf(api, target), depth - 1).map(({ path, column }) => ({ path: [name, ...path], column })),
  )
  return [...columns, ...related]
}

/** A drawn key of groups. */
export interface Chosen extends Way {
  readonly unit: string
  /** The member of a group with it. */
  readonly member: string
}

export function drawKeys(scene: Scene, ways: readonly Way[]): readonly Chosen[] {
  const { draw } = scene
  const count = draw.pick([1, 1, 2, 3])
  const chosen = new Map<string, Chosen>()
  for (let index = 0; index < count; index += 1) {
    const way = draw.pick(ways)
    const units = [...unitsOf(way.column.type), ...recurringOf(way.column.type)]
    const unit = units.length > 0 && draw.chance(60) ? draw.pick(units) : 'VALUE'
    scene.tell(`group: ${unit}${way.path.length > 1 ? ', related row' : ''}`)
    const member = recurringMember(unit) ?? 'key'
    chosen.set([member, ...way.path].join('.'), { ...way, unit, member })
  }
  return [...chosen.values()]
}

export const byTree = (keys: readonly Chosen[]): Tree => keys.map(({ path, unit }) => entry([path, unit]))

export const shownKeys = (keys: readonly Chosen[]): readonly string[] =>
  [...new Set(keys.map(({ member }) => member))].map((member) => {
    const told = keys.filter((key) => key.member === member)
    const fields = told.map(({ path }) =>
      path.reduceRight((inner, name) => (inner === '' ? name : `${name} { ${inner} }`), ''),
    )
    return `${member} { ${fields.join(' ')} }`
  })
