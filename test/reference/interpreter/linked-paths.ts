import { readStated } from './stated.ts'
import { every, type Condition } from './conditions.ts'
import type { Way } from './api-types.ts'
import { forwardName, isUnique, reverseName, typeOf } from './links.ts'
import { isName } from './names.ts'
import {
  tableNamed,
  type ColumnSketch,
  type ConditionSketch,
  type LinkSketch,
  type TableSketch,
  type World,
} from './world.ts'

/** One foreign key on the path of a link, in the path's direction (spec/graphql.md 17.8). */
interface Hop {
  readonly from: TableSketch
  readonly to: TableSketch
  readonly local: readonly string[]
  readonly foreign: readonly string[]
  readonly conditions: readonly ConditionSketch[]
}

/** A link for a role; null if it has no field. */
export interface LinkedPath {
  readonly name: string
  readonly target: TableSketch
  readonly local: readonly string[]
  readonly foreign: readonly string[]
  readonly many: boolean
  readonly way: Way
}

/** The visible part of a table for a role: whether all columns can be joined, and the filterable ones. */
export interface Sight {
  readonly joins: (table: TableSketch, columns: readonly string[]) => boolean
  readonly filterable: (table: TableSketch) => readonly ColumnSketch[]
}

export const pathsOf = (world: World, table: TableSketch, sight: Sight): readonly LinkedPath[] =>
  (table.links ?? []).flatMap((link) => {
    const hops = walk(world, table, link.path)
    const path = hops === null ? null : pathOver(world, link.name, hops, sight)
    return path === null ? [] : [path]
  })

/** Unions of a table (spec/graphql.md 17.9), with the relations that a role sees. */
export const unionsOf = (
  world: World,
  table: TableSketch,
  sight: Sight,
): readonly { readonly field: string; readonly of: readonly LinkedPath[] }[] =>
  (table.unions ?? []).flatMap(({ field, of }) => {
    const led = of.map((name) => {
      const hops = relationNamed(world, table, name)
      return hops === null || !hops.every(isToOne) ? null : { name, hops }
    })
    const found = led.flatMap((one) => one ?? [])
    // An unknown relation, or one with many rows, removes the field for all roles.
    if (found.length < of.length) return []
    return [{ field, of: found.flatMap(({ name, hops }) => pathOver(world, name, hops, sight) ?? []) }]
  })

/** A relation of the table, or a link of it with a unique name. */
function relationNamed(world: World, table: TableSketch, name: string): readonly Hop[] | null {
  const link = (table.links ?? []).find((one) => one.name === name)
  if (!isName(name) || name === 'nodeId') return null
  return walk(world, table, [{ field: name, conditions: [] }]) ?? (link ? walk(world, table, link.path) : null)
}

const isToOne = ({ to, foreign }: Hop): boolean => isUnique(to, foreign)

/** Independent of roles: of two relations of one name on a table the last one is used (spec/graphql.md 2.4). */
function walk(world: World, table: TableSketch, path: LinkSketch['path']): readonly Hop[] | null {
  const [step, ...others] = path
  if (step === undefined) return []
  const towards = table.foreignKeys.map((key) => {
    const to = tableNamed(world, key.target)
    return {
      name: forwardName(world, { child: table, key, target: to }),
      to,
      local: key.columns,
      foreign: key.targetColumns,
    }
  })
  const back = world.tables.flatMap((child) =>
    child.foreignKeys
      .filter((key) => key.target === table.name)
      .map((key) => ({
        name: reverseName(world, { child, key, target: table }),
        to: child,
        local: key.targetColumns,
        foreign: key.columns,
      })),
  )
  const found = [...towards, ...back].findLast(({ name, to }) => name === step.field && isType(world, to))
  const rest = found === undefined ? null : walk(world, found.to, others)
  if (found === undefined || rest === null) return null
  return [{ from: table, ...found, conditions: step.conditions }, ...rest]
}

/** Relations without a key or a name have no type and therefore no fields. */
const isType = (world: World, table: TableSketch): boolean =>
  table.primaryKey.length > 0 && isName(typeOf(world, table))

function pathOver(world: World, name: string, hops: readonly Hop[], sight: Sight): LinkedPath | null {
  const places = hops.map((hop) => ({ ...hop, meets: conditionOn(world, hop, sight) }))
  const [first, last] = [places[0], places.at(-1)]
  const isSeen = hops.every(({ from, to, local, foreign }) => sight.joins(from, local) && sight.joins(to, foreign))
  if (first === undefined || last === undefined || !isSeen) return null
  if (places.some(({ meets }) => meets === 'unusable')) return null
  const meetsOf = ({ meets }: (typeof places)[number]): Condition | null => (meets === 'unusable' ? null : meets)
  const through = places.slice(1).flatMap((next, index) => {
    const hop = places[index]
    return hop === undefined ? [] : [{ table: hop.to.name, near: hop.foreign, far: next.local, meets: meetsOf(hop) }]
  })
  const [between, ...more] = through
  const isPair = (one: NonNullable<typeof between>): boolean =>
    isUnique(tableNamed(world, one.table), [...one.near, ...one.far])
  return {
    name,
    target: last.to,
    local: first.local,
    foreign: last.foreign,
    many: !hops.every(isToOne),
    way: {
      through,
      meets: meetsOf(last),
      onEdge: between !== undefined && more.length === 0 && isPair(between) ? between.table : null,
    },
  }
}

function conditionOn(world: World, { to, conditions }: Hop, { filterable }: Sight): Condition | null | 'unusable' {
  const read = conditions.map((condition) => {
    const column = filterable(to).find((one) => one.name === condition.column)
    return column === undefined ? null : readStated(world, column, condition)
  })
  return read.includes(null) ? 'unusable' : every(read)
}
