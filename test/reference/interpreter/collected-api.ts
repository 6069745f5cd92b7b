import type { ApiTable, Collected, RowField } from './api-types.ts'
import { familyOf } from './compared.ts'
import { compareText, operatorsOf, rulesOf } from './types.ts'
import { additionsOf, type ColumnSketch, type ColumnType, type World } from './world.ts'

/** The collections of interfaces (spec/graphql.md 17.9). */

/** By interface; for a role with their types. */
export function collectedBy(
  world: World,
  tables: readonly ApiTable[],
  interfaces: ReadonlyMap<string, ReadonlyMap<string, RowField>>,
  isTaken: (name: string) => boolean,
): readonly Collected[] {
  return [...interfaces].flatMap(([name, fields]): readonly Collected[] => {
    const of = tables
      .filter(({ sketch }) => sketch.collections?.includes(name) === true)
      .sort((a, b) => compareText(a.type, b.type))
    const parts = ['Connection', 'Edge', 'Filter', 'OrderBy'].map((part) => name + part)
    if (of.length === 0 || parts.some(isTaken)) return []
    const columns = [...fields].flatMap(([field, { kind }]) => (kind === 'column' ? [field] : []))
    const isShown = (part: string) => (field: string) => world.hidden?.includes(`${name}${part}.${field}`) !== true
    return [
      {
        name,
        of,
        maxRows: Math.min(...of.map(({ maxRows }) => maxRows)),
        filters: columns
          .filter(isShown('Filter'))
          .filter((field) => areAlike(of, (table) => filterText(world, table, table.filters.get(field)))),
        orders: columns
          .filter(isShown('OrderBy'))
          .filter((field) => areAlike(of, (table) => familyIn(table.orders.get(field)))),
      },
    ]
  })
}

const areAlike = (tables: readonly ApiTable[], textOf: (table: ApiTable) => string | null): boolean => {
  const [first = null, ...others] = tables.map(textOf)
  return first !== null && others.every((other) => other === first)
}

const familyIn = (column: ColumnSketch | undefined): string | null =>
  column === undefined ? null : sortedAs(column.type)

/** Values of one type, with equal rounding and truncation. */
const sortedAs = (type: ColumnType): string =>
  familyOf(type) === 'number' ? `${type.base} ${type.scale ?? ''}` : familyOf(type)

/** The identity of a column's filter among others of its type. */
function filterText(world: World, { sketch }: ApiTable, column: ColumnSketch | undefined): string | null {
  if (column === undefined) return null
  const { type } = column
  const on = additionsOf(world, sketch)
  const operators = operatorsOf(type, on)
  if (type.list) return `list ${operators.join()}`
  const { graphql } = rulesOf(type)
  if (graphql === 'String') return `${String(on.search)} ${String(on.textFilters)}`
  return graphql === 'Opaque' && operators.length <= 2 ? 'opaque' : operators.join()
}
