import type { ApiTable } from './api-types.ts'
import { every, type Condition } from './conditions.ts'
import { readFilter } from './filter.ts'
import type { Surroundings } from './related.ts'
import { readStated } from './stated.ts'
import type { Json } from './world.ts'

/**
 * The given conditions, or else those of the table's comment on columns that the role can filter by (spec/graphql.md
 * 17.5).
 */
export function readChosen(around: Surroundings, table: ApiTable, input: Json | undefined): Condition | null {
  if (input !== undefined) return readFilter(around, table, input)
  // Computed fields can be filtered by as well, and have an unnamed column.
  const columns = [...table.columns].flatMap(([name, column]) => (table.filters.get(name) === column ? [column] : []))
  return every(
    (table.sketch.defaultFilter ?? []).map((condition) => {
      const column = columns.find(({ name }) => name === condition.column)
      return column === undefined ? null : readStated(around.world, column, condition)
    }),
  )
}
