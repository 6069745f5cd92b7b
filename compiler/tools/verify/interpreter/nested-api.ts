import type { Api, ApiTable, RelationField } from './api-types.ts'
import { apiTableOf } from './api.ts'
import { argumentsOfKey, uniqueLookups } from './root-fields.ts'
import { columnNamed, hasAddition, type ColumnSketch, type TableSketch, type World } from './world.ts'

/** A relation whose rows an insert takes (spec/graphql.md 17.6). */
export interface NestedField {
  readonly name: string
  readonly relation: RelationField
  readonly target: ApiTable
  readonly inserts: boolean
  /** By which its rows are connected, by the fields of their columns. */
  readonly keys: readonly ReadonlyMap<string, ColumnSketch>[]
}

/** In the order of the fields. */
export function nestedFields(world: World, api: Api, table: ApiTable): readonly NestedField[] {
  const { sketch } = table
  const key = table.key.map(({ name }) => name)
  const { select } = table.grants
  const isReadable = select === 'all' || key.every((name) => select.includes(name))
  if (!hasAddition(world, sketch, 'nestedWrites') || !isReadable || !arePlain(sketch, key)) return []
  return [...table.fields].flatMap(([name, field]): readonly NestedField[] => {
    if (field.kind !== 'relation' || field.through !== undefined || table.inserts.has(name)) return []
    const target = apiTableOf(api, field.target)
    const isForward = field.direction === 'forward'
    const inserts = target.inserts.size > 0
    const keys = isForward ? keysOf(world, target) : []
    const isWritten = isForward ? mayInsert(table, field.local) : mayInsert(target, field.foreign)
    const isPlain = arePlain(sketch, field.local) && arePlain(target.sketch, field.foreign)
    return isWritten && isPlain && (inserts || keys.length > 0)
      ? [{ name, relation: field, target, inserts, keys }]
      : []
  })
}

/** No lists, no objects, no places. */
const arePlain = (table: TableSketch, names: readonly string[]): boolean =>
  names.every((name) => {
    const { type } = columnNamed(table, name)
    return !type.list && !['composite', 'geometry'].includes(type.base)
  })

/** They stand in the input (spec/graphql.md 10.1). */
const mayInsert = ({ inserts }: ApiTable, names: readonly string[]): boolean =>
  names.every((name) => [...inserts.values()].some((column) => column.name === name))

function keysOf(world: World, target: ApiTable): NestedField['keys'] {
  const primary = argumentsOfKey(
    target,
    target.key.map(({ name }) => name),
  )
  const hasOthers = hasAddition(world, target.sketch, 'nestedWrites') || hasAddition(world, target.sketch, 'updates')
  return [...(primary === null ? [] : [primary]), ...(hasOthers ? uniqueLookups(target) : [])]
}
