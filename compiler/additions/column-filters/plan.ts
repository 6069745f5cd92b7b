import type { ColumnFacts } from '../../../runtime/contract/manifest.ts'
import { combined } from '../../../runtime/graphql/plan/conditions.ts'
import type { Input } from '../../../runtime/graphql/plan/input.ts'
import type { Filter } from '../../../runtime/graphql/plan/plan-nodes.ts'
import { badArgument } from '../../../runtime/graphql/protocol/failures.ts'
import type { ColumnOperatorName } from '../../../runtime/sql/operators.ts'

export function planColumns(columns: ReadonlyMap<string, ColumnFacts>, input: Input): Filter | null {
  if (input.kind !== 'object') return null
  const all = input.fields.flatMap(([name, comparisons]) => {
    const column = columns.get(name)
    if (column === undefined || comparisons.kind !== 'object') return []
    return comparisons.fields.map(([operator, other]) =>
      compared(columns, column, operator as ColumnOperatorName, other),
    )
  })
  return combined('all', all)
}

function compared(
  columns: ReadonlyMap<string, ColumnFacts>,
  { column, field, comparison }: ColumnFacts,
  operator: ColumnOperatorName,
  input: Input,
): Filter {
  if (input.kind !== 'leaf') {
    const nothing = { slot: { kind: 'constant', value: null }, encoding: { kind: 'scalar', maxLength: null } } as const
    return { kind: 'compare', column, operator, operand: 'value', value: nothing }
  }
  const other = [...columns.values()].findLast((one) => one.column === String(input.value))
  if (other?.comparison !== comparison) throw badArgument(`"${field}" cannot be compared with "${other?.field}"`)
  return { kind: 'compare-column', column, operator, other: other?.column ?? '' }
}
