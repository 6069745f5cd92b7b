import type { ApiTable } from './api-types.ts'
import { apiTableOf } from './api.ts'
import { beginOf, printDecimal, readDecimal, type Decimal } from './decimal.ts'
import { relatedRows, type Surroundings } from './related.ts'
import { asList, type Way } from './page.ts'
import { fittedInteger } from './operators.ts'
import { Refused } from './refusal.ts'
import type { Row } from './store.ts'
import { bucket, recurringMember, recurringNumber } from './times.ts'
import type { ColumnSketch, ColumnType, Json, Value } from './world.ts'

type Members = Readonly<Record<string, Json>>

/** A key of groups. */
export interface GroupKey {
  /** The field names of its path, such as `author.country`; for a recurring unit after its member. */
  readonly id: string
  readonly type: ColumnType
  readonly place: { readonly table: ApiTable; readonly column: ColumnSketch }
  readonly valueOf: (row: Row) => Value
}

const recurringType: ColumnType = { base: 'int8', list: false, enum: null }

export function readKeys(
  around: Surroundings,
  table: ApiTable,
  input: Json | undefined,
  zone: Json | undefined,
  widths: Json | undefined,
): readonly GroupKey[] {
  const reach = widthsIn(widths, '')
  const all = asList(input).flatMap((item) => keysIn(around, table, item, '', (row) => row, String(zone ?? 'UTC')))
  const keys = all.map((key) => withWidth(key, reach.get(key.id)))
  const twice = keys.find(({ id }, index) => keys.findIndex((other) => other.id === id) < index)
  if (twice !== undefined) throw new Refused(`Rows can be grouped by "${twice.id}" once`)
  for (const id of reach.keys()) if (keys.length > 0) demandKey(keys, id)
  if (keys.length === 0) throw new Refused('At least one field must be provided to by')
  return keys
}

/** By the paths of the fields. */
function widthsIn(input: Json | undefined, path: string): ReadonlyMap<string, Decimal> {
  if (input === undefined || input === null) return new Map()
  if (typeof input === 'object')
    return new Map(
      Object.entries(input as Members).flatMap(([name, value]) => [
        ...widthsIn(value, path === '' ? name : `${path}.${name}`),
      ]),
    )
  const text = String(input)
  if (!/^[\d.]+$/.test(text) || !/[1-9]/.test(text)) throw new Refused('A width must be a number above 0')
  return new Map([[path, readDecimal(text)]])
}

const withWidth = (key: GroupKey, width: Decimal | undefined): GroupKey =>
  width === undefined
    ? key
    : {
        ...key,
        valueOf: (row) => {
          const value = key.valueOf(row)
          if (value === null) return null
          const begin = printDecimal(beginOf(readDecimal(String(value)), width))
          return fittedInteger(key.type, begin) ?? begin
        },
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
    const member = column === undefined ? undefined : recurringMember(String(asked))
    if (column !== undefined && member !== undefined) {
      const valueOf = (row: Row): Value =>
        recurringNumber(column.type, String(asked), zone, way(row)?.get(column.name) ?? null)
      return [{ id: `${member}.${id}`, type: recurringType, place: { table, column }, valueOf }]
    }
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
      return relatedRows(around, table, relation, from)[0]?.row
    }
    return keysIn(around, target, asked, `${id}.`, next, zone)
  })
}

export function demandKey(keys: readonly GroupKey[], id: string): GroupKey {
  const key = keys.find((one) => one.id === id)
  if (key === undefined) throw new Refused(`Rows are not grouped by "${id}"`)
  return key
}
