import type { RoleVisibility } from '../../engine/view.ts'
import type { StatedCondition } from '../../engine/visible.ts'
import { combined, planColumn } from './conditions.ts'
import type { Input } from './input.ts'
import type { Filter } from './plan-nodes.ts'

export const planStated = (visible: RoleVisibility, conditions: readonly StatedCondition[]): Filter | null =>
  combined(
    'all',
    conditions.flatMap(({ column, operator, value }) => {
      const operand: Input = { kind: 'leaf', slot: { kind: 'constant', value, stated: true }, value }
      return (
        planColumn(visible, column, {
          kind: 'object',
          slot: { kind: 'constant', value: null },
          fields: [[operator, operand]],
        }) ?? []
      )
    }),
  )
