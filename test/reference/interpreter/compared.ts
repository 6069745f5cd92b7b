import type { ApiTable } from './api-types.ts'
import { every, readAll, type Condition } from './conditions.ts'
import { isEnumName } from './names.ts'
import { Refused } from './refusal.ts'
import { compareNumerics, compareValues, operatorHolds } from './types.ts'
import type { BaseType, ColumnSketch, ColumnType, Json, World } from './world.ts'

/** Comparisons of columns with each other (spec/graphql.md 17.1). */

const numbers: ReadonlySet<BaseType> = new Set(['int2', 'int4', 'int8', 'numeric', 'numeric(8,2)'])

/** Columns with the same family are compared. */
export function familyOf({ base, enum: name, collated = '' }: ColumnType): string {
  if (numbers.has(base)) return 'number'
  return base === 'varchar(5)' ? `text ${collated}` : `${base} ${name ?? collated}`
}

/** The filterable and sortable columns with at least one counterpart. */
export function comparable(columns: ReadonlyMap<string, ColumnSketch>): ReadonlyMap<string, ColumnSketch> {
  const named = [...columns].filter(([name]) => isEnumName(name))
  const families = named.map(([, { type }]) => familyOf(type))
  return new Map(named.filter((_, place) => families.filter((family) => family === families[place]).length > 1))
}

export const readColumns = (world: World, { compared }: ApiTable, input: Json): Condition | null =>
  every(
    readAll(Object.entries(input ?? {}), ([name, operators]: [string, Json]) => {
      const column = compared.get(name)
      if (column === undefined) throw new Error(`${name} is compared with nothing`)
      return every(
        readAll(Object.entries(operators ?? {}), ([operator, other]: [string, Json]): Condition => {
          if (other === null) return () => null
          const beside = compared.get(String(other))
          if (beside === undefined) throw new Error(`nothing is compared with ${String(other)}`)
          if (familyOf(column.type) !== familyOf(beside.type))
            throw new Refused(`"${name}" cannot be compared with "${String(other)}"`)
          return compareBoth(world, operator, column, beside)
        }),
      )
    }),
  )

const compareBoth =
  (world: World, operator: string, column: ColumnSketch, other: ColumnSketch): Condition =>
  (row) => {
    const [a, b] = [row.get(column.name) ?? null, row.get(other.name) ?? null]
    if (a === null || b === null) return null
    const order = numbers.has(column.type.base)
      ? compareNumerics(String(a), String(b))
      : compareValues(world, column.type, a, b)
    return operatorHolds(operator, order)
  }
