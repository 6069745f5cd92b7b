import type { Api, ApiTable, RelationField } from './api-types.ts'
import { apiTableOf } from './api.ts'
import { isMeant } from './deleted.ts'
import { isSame } from './constraints.ts'
import { Unknown } from './sample.ts'
import type { Row } from './store.ts'
import type { Json, World } from './world.ts'

/** The context of a filter: other tables, and their rows that the caller sees. */
export interface Surroundings {
  readonly world: World
  readonly api: Api
  readonly reach: (table: ApiTable) => readonly Row[]
}

/** A related row, and the connecting row, if any. */
export interface RelatedRow {
  readonly row: Row
  readonly between: Row | null
}

/**
 * The distinct rows that a row is related to, as far as the caller sees them (spec/graphql.md 8, 17.7, 17.8).
 *
 * @param deleted the argument for deleted ones
 * @throws Unknown if intermediate rows are not all known
 */
export function relatedRows(
  { world, api, reach }: Surroundings,
  table: ApiTable,
  { target, local, foreign, way }: RelationField,
  row: Row,
  deleted?: Json,
): readonly RelatedRow[] {
  const hops = [...(way?.through ?? []), { table: target, near: foreign, far: [], meets: way?.meets ?? null }]
  let [ways, from, columns]: [readonly (readonly Row[])[], ApiTable, readonly string[]] = [[[row]], table, local]
  for (const [place, { table: name, near, far, meets }] of hops.entries()) {
    const to = apiTableOf(api, name)
    if (place < hops.length - 1 && to.sketch.sampled === true) throw new Unknown(to.type)
    const { sketch } = from
    const [before, here] = [ways, columns]
    const asked = place < hops.length - 1 ? undefined : deleted
    const others = reach(to).filter(
      (other) => isMeant(to.sketch, other, asked) && (meets === null || meets(other) === true),
    )
    ways = before.flatMap((rows) =>
      others
        .filter((other) => isSame(world, sketch, here, rows.at(-1) ?? row, near, other))
        .map((other) => [...rows, other]),
    )
    ;[from, columns] = [to, far]
  }
  const isOnEdge = way !== undefined && way.onEdge !== null
  const found = new Map(ways.map((rows) => [rows.at(-1) ?? row, isOnEdge ? (rows[1] ?? null) : null] as const))
  return [...found].map(([last, between]) => ({ row: last, between }))
}
