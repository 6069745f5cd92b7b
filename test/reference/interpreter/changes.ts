import type { ApiTable } from './api-types.ts'
import { readInput } from './conditions.ts'
import { operatorNames, applied, steps, type OperatorName } from './operators.ts'
import { Refused } from './refusal.ts'
import type { Row } from './store.ts'
import type { ColumnSketch, Json, Value, World } from './world.ts'

/** The changes of an update: set values, and operators (spec/graphql.md 10.3, 17.4). */

/** The new value of a column from the existing row. @throws Refused if there is none */
export type Change = (row: Row) => Value

type Argument = (name: string) => Json | undefined

/** The columns that `set` and the operators change, by SQL name. @throws Refused if there are none */
export function readChanges(world: World, table: ApiTable, arg: Argument): ReadonlyMap<string, Change> {
  const all = readNamed(world, table, arg)
  if (all.size === 0) throw new Refused('At least one mapping must be provided to set argument')
  return new Map([...all].map(([column, { change }]) => [column, change]))
}

/** The same with their field names; there may be none. */
export function readNamed(world: World, table: ApiTable, arg: Argument): ReadonlyMap<string, Named> {
  const all = [
    ...readSet(world, table, arg('set')),
    ...operatorNames.flatMap((name) => readOperator(world, table, name, arg(name))),
  ]
  const found = new Map<string, Named>()
  for (const named of all) {
    const before = found.get(named.column)
    if (before !== undefined && before.by !== named.by)
      throw new Refused(`The column "${named.field}" is changed by "${before.by}" and by "${named.by}".`)
    found.set(named.column, named)
  }
  return found
}

export interface Named {
  readonly column: string
  readonly field: string
  readonly by: string
  readonly change: Change
}

const columnOf = (inputs: ReadonlyMap<string, ColumnSketch> | undefined, field: string): ColumnSketch => {
  const column = inputs?.get(field)
  if (column === undefined) throw new Error(`there is no input ${field}`)
  return column
}

const readSet = (world: World, table: ApiTable, input: Json | undefined): readonly Named[] =>
  Object.entries((input ?? {}) as Readonly<Record<string, Json>>).map(([field, given]) => {
    const { name, type } = columnOf(table.updates, field)
    const value = readInput(world, type, given)
    return { column: name, field, by: 'set', change: () => value }
  })

function readOperator(world: World, table: ApiTable, name: OperatorName, input: Json | undefined): readonly Named[] {
  return Object.entries((input ?? {}) as Readonly<Record<string, Json>>).flatMap(([field, given]): readonly Named[] => {
    const { name: column, type } = columnOf(table.operators.get(name), field)
    const apply = applied(name, type)
    if (apply === undefined) throw new Error(`${field} does not take ${name}`)
    const isNothing = given === null || ((name === 'setKey' || name === 'unsetKey') && steps(given).length === 0)
    if (isNothing) return []
    return [{ column, field, by: name, change: (row) => apply(world, type, row.get(column) ?? null, given) }]
  })
}
