import type { Api, ApiTable, RelationField } from './api-types.ts'
import { apiTableOf } from './api.ts'
import { argumentsOfKey, uniqueLookups } from './root-fields.ts'
import { columnNamed, hasAddition, type ColumnSketch, type TableSketch, type World } from './world.ts'

/** A relation whose rows an insert can contain (spec/graphql.md 17.6). */
export interface NestedField {
  readonly name: string
  readonly relation: RelationField
  readonly target: ApiTable
  readonly inserts: boolean
  /** The keys by which its rows are connected, by the fields of their columns. */
  readonly keys: readonly ReadonlyMap<string, ColumnSketch>[]
}

/** In the order of the fields. */
export function nestedFields(world: World, api: Api, table: ApiTable): readonly NestedField[] {
  const { sketch } = table
  if (!nests(world, table)) return []
  return [...table.fields].flatMap(([name, field]): readonly NestedField[] => {
    if (field.kind !== 'relation' || field.way !== undefined || table.inserts.has(name)) return []
    const target = apiTableOf(api, field.target)
    const isForward = field.direction === 'forward'
    const inserts = target.inserts.size > 0
    const keys = isForward ? keysOf(world, target) : []
    const isWritten = isForward ? standIn(table.inserts, field.local) : standIn(target.inserts, field.foreign)
    const isPlain = arePlain(sketch, field.local) && arePlain(target.sketch, field.foreign)
    return isWritten && isPlain && (inserts || keys.length > 0)
      ? [{ name, relation: field, target, inserts, keys }]
      : []
  })
}

/** Whether its rows can contain related ones. */
export function nests(world: World, { sketch, key, grants: { select } }: ApiTable): boolean {
  const names = key.map(({ name }) => name)
  const isReadable = select === 'all' || names.every((name) => select.includes(name))
  return hasAddition(world, sketch, 'nestedWrites') && isReadable && arePlain(sketch, names)
}

/** Neither lists nor objects nor geometries. */
export const arePlain = (table: TableSketch, names: readonly string[]): boolean =>
  names.every((name) => {
    const { type } = columnNamed(table, name)
    return !type.list && !['composite', 'geometry'].includes(type.base)
  })

/** They are in an input (spec/graphql.md 10.1). */
export const standIn = (inputs: ReadonlyMap<string, ColumnSketch>, names: readonly string[]): boolean =>
  names.every((name) => [...inputs.values()].some((column) => column.name === name))

export function keysOf(world: World, target: ApiTable): NestedField['keys'] {
  const primary = argumentsOfKey(
    target,
    target.key.map(({ name }) => name),
  )
  const hasOthers = hasAddition(world, target.sketch, 'nestedWrites') || hasAddition(world, target.sketch, 'updates')
  return [...(primary === null ? [] : [primary]), ...(hasOthers ? uniqueLookups(target) : [])]
}
