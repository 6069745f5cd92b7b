import type { ApiTable } from './api-types.ts'
import { every, type Condition } from './conditions.ts'
import { readFilter } from './filter.ts'
import type { Surroundings } from './related.ts'
import { readStated } from './stated.ts'
import type { Json } from './world.ts'

/**
 * What is asked for; where nothing is given what the table's comment says of columns that the role can filter by
 * (spec/graphql.md 17.5).
 */
export function readChosen(around: Surroundings, table: ApiTable, input: Json | undefined): Condition | null {
  if (input !== undefined) return readFilter(around, table, input)
  // Computed fields can be filtered by as well, and are of a column that need not be.
  const columns = [...table.columns].flatMap(([name, column]) => (table.filters.get(name) === column ? [column] : []))
  return every(
    (table.sketch.defaultFilter ?? []).map((condition) => {
      const column = columns.find(({ name }) => name === condition.column)
      return column === undefined ? null : readStated(around.world, column, condition)
    }),
  )
}
