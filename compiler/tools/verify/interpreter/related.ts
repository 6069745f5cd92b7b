import type { Api, ApiTable, RelationField } from './api-types.ts'
import { apiTableOf } from './api.ts'
import { isMeant } from './deleted.ts'
import { isSame } from './constraints.ts'
import type { Row } from './store.ts'
import type { Json, World } from './world.ts'

/** What a filter is read in: other tables, and the rows of them that the caller reaches. */
export interface Surroundings {
  readonly world: World
  readonly api: Api
  readonly reach: (table: ApiTable) => readonly Row[]
}

/** A row that another one is related to, and the row that connects both, where there is one. */
export interface RelatedRow {
  readonly row: Row
  readonly between: Row | null
}

/**
 * The rows that a row is related to, as far as the caller reaches them (spec/graphql.md 8, 17.7).
 *
 * @param deleted the argument that asks for deleted ones
 */
export function relatedRows(
  { world, api, reach }: Surroundings,
  table: ApiTable,
  { target, local, foreign, through }: RelationField,
  row: Row,
  deleted?: Json,
): readonly RelatedRow[] {
  const there = apiTableOf(api, target)
  const others = reach(there).filter((other) => isMeant(there.sketch, other, deleted))
  if (through === undefined)
    return others
      .filter((other) => isSame(world, table.sketch, local, row, foreign, other))
      .map((other) => ({ row: other, between: null }))
  const { sketch } = apiTableOf(api, through.table)
  return reach(apiTableOf(api, through.table))
    .filter((between) => isMeant(sketch, between, undefined))
    .filter((between) => isSame(world, table.sketch, local, row, through.near, between))
    .flatMap((between) =>
      others
        .filter((other) => isSame(world, sketch, through.far, between, foreign, other))
        .map((other) => ({ row: other, between })),
    )
}
