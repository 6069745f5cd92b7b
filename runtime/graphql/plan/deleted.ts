import type { EntityFacts } from '../../contract/manifest.ts'
import type { ColumnChange } from './column-changes.ts'
import type { Input } from './input.ts'
import type { Planner } from './planner.ts'
import type { Filter } from './plan-nodes.ts'

/** Soft-deleted rows of a relation with `softDelete` (spec/graphql.md 17.5). */

interface Meant {
  /** True: only deleted rows; false: only the rest; absent: both. */
  readonly deleted?: boolean
}

/** @param input the argument that asks for deleted rows; without it they are excluded */
export function planDeleted({ softDelete }: EntityFacts, input: Input = { kind: 'absent' }): Meant {
  const asked = input.kind === 'leaf' ? input.value : 'WITHOUT'
  return softDelete == null || asked === 'WITH' ? {} : { deleted: asked === 'ONLY' }
}

/** The same for a field that takes a key, whose columns keep their names. */
export const planDeletedBy = (entity: EntityFacts, key: readonly string[], args: (name: string) => Input): Meant =>
  planDeleted(entity, key.includes('deleted') ? undefined : args('deleted'))

/** A condition on the rows of a relation, combined with the argument about deleted rows. */
export function amongMeant(entity: EntityFacts, filter: Filter | null, input?: Input): Filter | null {
  const { deleted } = planDeleted(entity, input)
  if (deleted === undefined) return filter
  const isMeant: Filter = { kind: 'deleted', deleted }
  return filter === null ? isMeant : { kind: 'all', of: [filter, isMeant] }
}

/** The new values of rows that are marked and not removed. */
export function planMark({ visible }: Planner, entity: EntityFacts): readonly ColumnChange[] {
  const { softDelete } = entity
  if (softDelete == null) return []
  return [softDelete, ...visible.presets(entity, 'update').filter(({ column }) => column !== softDelete.column)]
}
