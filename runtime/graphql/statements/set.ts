import { ident } from '../../sql/ident.ts'
import { changeOperator, numberTypes, type ChangeFamily } from '../../sql/change-operators.ts'
import { applied, joined, sql, trusted, written, type Sql } from '../../sql/tree.ts'
import type { PresetPlace } from '../../engine/visible.ts'
import type { ColumnChange } from '../plan/column-changes.ts'
import { valueParameter } from './parameters.ts'
import { columnOf, type Scope } from './source.ts'

/** The SET list of an update (spec/graphql.md 10.3, 17.4). */
export const setSql = (scope: Scope, set: readonly ColumnChange[]): Sql => joined(settings(scope, set), ', ')

export const settings = (scope: Scope, set: readonly ColumnChange[]): readonly Sql[] =>
  set.map((change) => sql`${ident(change.column)} = ${newValue(scope, change)}`)

function newValue(scope: Scope, change: ColumnChange): Sql {
  if ('at' in change) return presetValue(scope, change)
  if ('mark' in change) return change.mark === 'time' ? sql`pg_catalog.now()` : sql`true`
  const { operand } = columnOf(scope.builder, change.column)
  if ('value' in change) return applied(operand, valueParameter(change.value))
  const { render, steps } = changeOperator(change.operator)
  const write = render[change.family]
  if (write === undefined) throw new Error(`${change.operator} has no SQL for ${change.family}`)
  const { present, type } = valueIn(change.family, scope, change.column)
  const casts = steps?.map((step) => stepTypes[step]) ?? [type]
  return change.operands.reduce<Sql>((value, operands) => {
    const typed = operands.map((one, index) => {
      const cast = casts[index]
      return cast === undefined ? applied(operand, valueParameter(one)) : sql`${valueParameter(one)}::${cast}`
    })
    return written(([before = '', ...others]) => write(before, ...others), [value, ...typed])
  }, present)
}

/** The value that the owner's comment sets. */
export function presetValue({ builder }: Scope, { column, at }: PresetPlace): Sql {
  const expression = builder.presets?.[at]
  if (expression === undefined) throw new Error(`the builder of ${builder.relation} has no preset of ${column}`)
  return trusted(expression)
}

const stepTypes = { at: trusted('text[]'), value: trusted('jsonb') } as const

/** The present value, and the cast of operands; undefined: as for any value of the column. */
function valueIn(family: ChangeFamily, scope: Scope, name: string) {
  const value = scope.column(name)
  switch (family) {
    case 'number': {
      const type = scope.entity.columns.find(({ column }) => column === name)?.type
      const number = type?.kind === 'scalar' ? numberTypes[type.name] : undefined
      if (number === undefined) throw new Error(`${name} is no number`)
      return { present: value, type: trusted(number) }
    }
    case 'array':
      return { present: applied(columnOf(scope.builder, name).fromRecord, value), type: undefined }
    case 'json':
      return { present: sql`(${value})::jsonb`, type: trusted('jsonb') }
  }
}
