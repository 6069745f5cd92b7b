import type { EntityFacts } from '../../../runtime/contract/manifest.ts'
import type { Meant } from '../../../runtime/contract/stated.ts'
import type { RoleVisibility } from '../../../runtime/engine/view.ts'
import type { ColumnChange } from '../../../runtime/graphql/plan/column-changes.ts'
import type { Args } from '../../../runtime/graphql/plan/input.ts'

function asked(args: Args): unknown {
  const input = args('deleted')
  return input.kind === 'leaf' ? input.value : 'WITHOUT'
}

/** Deleted rows are left out, unless an argument asks for them (spec/graphql.md 17.5). */
export const meant = ({ softDelete }: EntityFacts, args: Args): Meant | undefined =>
  softDelete == null || asked(args) === 'WITH' ? undefined : { ...softDelete, isMarked: asked(args) === 'ONLY' }

export const meansNone = ({ softDelete }: EntityFacts, args: Args): boolean =>
  softDelete == null && asked(args) === 'ONLY'

export function planMark(visible: RoleVisibility, entity: EntityFacts): readonly ColumnChange[] {
  const { softDelete } = entity
  if (softDelete == null) return []
  return [softDelete, ...visible.presets(entity, 'update').filter(({ column }) => column !== softDelete.column)]
}
