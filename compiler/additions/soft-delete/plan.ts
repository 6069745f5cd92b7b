import type { PlanAddition } from '../../../runtime/graphql/plan/additions.ts'
import type { Input } from '../../../runtime/graphql/plan/input.ts'

const asked = (input: Input): unknown => (input.kind === 'leaf' ? input.value : 'WITHOUT')

/** Deleted rows are left out, unless an argument asks for them (spec/graphql.md 17.5). */
export const plan: PlanAddition = {
  meant: ({ softDelete }, args) => {
    if (softDelete == null) return undefined
    const rows = asked(args('deleted'))
    return rows === 'WITH' ? undefined : { ...softDelete, isMarked: rows === 'ONLY' }
  },
  meansNone: ({ softDelete }, args) => softDelete == null && asked(args('deleted')) === 'ONLY',
  mark: (visible, entity) => {
    const { softDelete } = entity
    if (softDelete == null) return []
    return [softDelete, ...visible.presets(entity, 'update').filter(({ column }) => column !== softDelete.column)]
  },
}
