import type { ColumnFacts, EntityFacts } from '../../contract/manifest.ts'
import { comparedColumns } from '../../engine/compared.ts'
import type { RoleVisibility } from '../../engine/view.ts'
import type { ColumnOperatorName } from '../../sql/operators.ts'
import { badArgument } from '../protocol/failures.ts'
import type { Input } from './input.ts'
import type { Filter } from './plan-nodes.ts'

/** Comparisons of columns with each other (spec/graphql.md 17.1). */
export function planColumns(visible: RoleVisibility, entity: EntityFacts, input: Input): readonly Filter[] {
  if (input.kind !== 'object') return []
  const columns = comparedColumns(visible, entity)
  const bySqlName = new Map([...columns.values()].map((column) => [column.column, column]))
  return input.fields.flatMap(([name, comparisons]) => {
    const column = columns.get(name)
    if (column === undefined || comparisons.kind !== 'object') return []
    return comparisons.fields.map(([operator, other]) =>
      compared(column, operator as ColumnOperatorName, other, (sqlName) => bySqlName.get(sqlName)),
    )
  })
}

function compared(
  { column, field, comparison }: ColumnFacts,
  operator: ColumnOperatorName,
  input: Input,
  columnOf: (sqlName: string) => ColumnFacts | undefined,
): Filter {
  if (input.kind !== 'leaf') {
    const nothing = { slot: { kind: 'constant', value: null }, encoding: { kind: 'scalar', maxLength: null } } as const
    return { kind: 'compare', column, operator, operand: 'value', value: nothing }
  }
  const other = columnOf(String(input.value))
  if (other?.comparison !== comparison) {
    throw badArgument(`"${field}" cannot be compared with "${other?.field}"`)
  }
  return { kind: 'compare-column', column, operator, other: other?.column ?? '' }
}
