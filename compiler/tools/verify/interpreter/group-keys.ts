import { apiTableOf, type ApiTable } from './api.ts'
import { isSame } from './constraints.ts'
import type { Surroundings } from './filter.ts'
import { asList, type Way } from './page.ts'
import { Refused } from './refusal.ts'
import type { Row } from './store.ts'
import { bucket } from './times.ts'
import type { ColumnSketch, ColumnType, Json, Value } from './world.ts'

type Members = Readonly<Record<string, Json>>

/** What rows are grouped by. */
export interface GroupKey {
  /** The names of fields that lead to it, such as `author.country`. */
  readonly id: string
  readonly type: ColumnType
  readonly place: { readonly table: ApiTable; readonly column: ColumnSketch }
  readonly valueOf: (row: Row) => Value
}

export function readKeys(
  around: Surroundings,
  table: ApiTable,
  input: Json | undefined,
  zone: Json | undefined,
): readonly GroupKey[] {
  const keys = asList(input).flatMap((item) => keysIn(around, table, item, '', (row) => row, String(zone ?? 'UTC')))
  const twice = keys.find(({ id }, index) => keys.findIndex((other) => other.id === id) < index)
  if (twice !== undefined) throw new Refused(`Rows can be grouped by "${twice.id}" once`)
  if (keys.length === 0) throw new Refused('At least one field must be provided to by')
  return keys
}

function keysIn(
  around: Surroundings,
  table: ApiTable,
  input: Json,
  path: string,
  way: Way,
  zone: string,
): readonly GroupKey[] {
  if (input === null) return []
  return Object.entries(input as Members).flatMap(([name, asked]): readonly GroupKey[] => {
    if (asked === null) return []
    const id = `${path}${name}`
    const column = table.orders.get(name)
    if (column !== undefined) {
      const valueOf = (row: Row): Value => bucket(column.type, String(asked), zone, way(row)?.get(column.name) ?? null)
      return [{ id, type: column.type, place: { table, column }, valueOf }]
    }
    const relation = table.groupRelations.get(name)
    if (relation === undefined) throw new Error(`${table.type} cannot be grouped by ${name}`)
    const target = apiTableOf(around.api, relation.target)
    const next = (row: Row): Row | undefined => {
      const from = way(row)
      if (from === undefined) return undefined
      return around
        .reach(target)
        .find((other) => isSame(around.world, table.sketch, relation.local, from, relation.foreign, other))
    }
    return keysIn(around, target, asked, `${id}.`, next, zone)
  })
}

export function demandKey(keys: readonly GroupKey[], id: string): GroupKey {
  const key = keys.find((one) => one.id === id)
  if (key === undefined) throw new Refused(`Rows are not grouped by "${id}"`)
  return key
}
