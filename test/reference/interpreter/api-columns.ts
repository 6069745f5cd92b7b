import { accessOf } from './access.ts'
import { isGranted } from './links.ts'
import { fieldNameOf, isName } from './names.ts'
import { operatorNames, takesOperator, type OperatorName } from './operators.ts'
import { isOrderable, operatorsOf, rulesOf } from './types.ts'
import {
  additionsOf,
  grantsOf,
  type ColumnSketch,
  type Grants,
  type Role,
  type TableSketch,
  type World,
} from './world.ts'

/** The visible columns of a table for a role, by the names of their fields, and the privileges on them. */

/** The visible columns of a role: without write-only ones. */
export const readableColumns = (sketch: TableSketch, role: Role): readonly ColumnSketch[] =>
  sketch.columns.filter(
    ({ name }) => isGranted(grantsOf(sketch, role).select, name) && !accessOf(sketch, role).hidden.includes(name),
  )

/** Texts and vectors of single values; lists have no search. */
export const isSearched = ({ type }: ColumnSketch): boolean =>
  !type.list && (type.base === 'tsvector' || rulesOf(type).graphql === 'String')

/** An operator reads and writes its column. */
export const changeable = (
  readable: readonly ColumnSketch[],
  writable: readonly ColumnSketch[],
  grants: Grants,
): readonly ColumnSketch[] =>
  readable.filter((column) => writable.includes(column) && isGranted(grants.update, column.name))

type NameColumns = (columns: readonly ColumnSketch[]) => ReadonlyMap<string, ColumnSketch>

export const operatorColumns = (
  columns: readonly ColumnSketch[],
  named: NameColumns,
): ReadonlyMap<OperatorName, ReadonlyMap<string, ColumnSketch>> =>
  new Map(
    operatorNames
      .map((name) => [name, named(columns.filter(({ type }) => takesOperator(name, type)))] as const)
      .filter(([, taken]) => taken.size > 0),
  )

const shownColumns = (world: World, role: Role, sketch: TableSketch): ReadonlyMap<string, ColumnSketch> =>
  new Map(
    readableColumns(sketch, role).flatMap((column) =>
      columnField(world, sketch, column).map((field) => [field, column] as const),
    ),
  )

export const filterColumns = (world: World, role: Role, sketch: TableSketch): ReadonlyMap<string, ColumnSketch> => {
  const on = additionsOf(world, sketch)
  return new Map(
    [...shownColumns(world, role, sketch)].filter(
      ([, { type }]) => type.base === 'composite' || operatorsOf(type, on).length > 0,
    ),
  )
}

export const ordersOf = (world: World, role: Role, sketch: TableSketch): ReadonlyMap<string, ColumnSketch> =>
  new Map([...shownColumns(world, role, sketch)].filter(([, column]) => isOrderable(column.type)))

/**
 * The name of a column's field, or none. The node id keeps its own: a column with its name has the spelling of the
 * database, unless that is the same or another column's field (spec/graphql.md, decision 15).
 */
export function columnField(world: World, { columns }: TableSketch, column: ColumnSketch): readonly string[] {
  const wanted = (one: ColumnSketch): string => fieldNameOf(one.name, one.field, world.inflects)
  const isKept = wanted(column) === 'nodeId'
  const name = isKept ? column.name : wanted(column)
  const isTaken = isKept && (name === 'nodeId' || columns.some((other) => wanted(other) === name))
  return isName(name) && !isTaken ? [name] : []
}
