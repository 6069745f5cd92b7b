import type { RowKey } from '../../../runtime/contract/lookups.ts'
import type { ColumnFacts, EntityFacts } from '../../../runtime/contract/manifest.ts'
import type { Meant } from '../../../runtime/contract/stated.ts'
import type { ChangeByKey } from '../../../runtime/engine/meaning.ts'
import type { RoleVisibility } from '../../../runtime/engine/view.ts'
import { byField } from '../../../runtime/engine/visible.ts'
import { fieldsOf, planChanges, planKey, planRowSets, type NamedChange } from '../../../runtime/graphql/plan/changes.ts'
import type { ColumnChange, RowSets } from '../../../runtime/graphql/plan/column-changes.ts'
import { objectsIn, slotOf, type Args, type Input } from '../../../runtime/graphql/plan/input.ts'
import { columnNamed, encodingOf } from '../../../runtime/graphql/plan/inputs.ts'
import { butKey, planMark, planMeant } from '../../../runtime/graphql/plan/meant.ts'
import type { RowsChange, Root, Row } from '../../../runtime/graphql/plan/plan-nodes.ts'
import type { Planner, SelectedField } from '../../../runtime/graphql/plan/planner.ts'
import type { Encoding, Value } from '../../../runtime/graphql/plan/values.ts'
import { planResponse } from '../../../runtime/graphql/plan/written.ts'
import { badArgument } from '../../../runtime/graphql/protocol/failures.ts'
import {
  changeOperator,
  changeOperatorNames,
  takenAs,
  type ChangeOperatorName,
} from '../../../runtime/sql/change-operators.ts'

/** Rows by their primary key. */
export interface UpdateRows extends RowsChange, RowSets {
  readonly kind: 'update-rows'
  /** As with a join. */
  readonly meant?: Meant
  readonly atMost: Value
}

/** One row by a key; the answer is the row itself. */
export interface RowChange {
  readonly kind: 'update-row' | 'delete-row'
  readonly key: string
  readonly entity: EntityFacts
  /** SQL names of the key's columns, and their values. */
  readonly by: readonly string[]
  readonly values: readonly Value[]
  /** False if several rows may have them. */
  readonly unique: boolean
  /** As with a join. */
  readonly meant?: Meant
  /** The new values; empty: the row is removed. */
  readonly set: readonly ColumnChange[]
  readonly row: Row
}

declare module '../../../runtime/graphql/plan/plan-nodes.ts' {
  interface AddedRoots {
    readonly updateRows: UpdateRows
    readonly rowChange: RowChange
  }
}

/** The columns of an operator, by field: their values are read and written. */
export const changeable = (
  visible: RoleVisibility,
  entity: EntityFacts,
  operator: ChangeOperatorName,
): ReadonlyMap<string, ColumnFacts> =>
  entity.updates === true
    ? byField(visible.takeovers(entity).filter(({ type }) => takenAs(operator, type) !== null))
    : new Map()

/** The operators that some column takes. */
export const usableOperators = (visible: RoleVisibility, entity: EntityFacts): readonly ChangeOperatorName[] =>
  changeOperatorNames.filter((name) => changeable(visible, entity, name).size > 0)

export const planOperators = (visible: RoleVisibility, entity: EntityFacts, args: Args): readonly NamedChange[] =>
  usableOperators(visible, entity).flatMap((name) => planOperator(name, changeable(visible, entity, name), args(name)))

/** Null changes nothing. */
function planOperator(
  operator: ChangeOperatorName,
  columns: ReadonlyMap<string, ColumnFacts>,
  input: Input,
): readonly NamedChange[] {
  const fields = input.kind === 'object' ? input.fields : []
  return fields.flatMap(([field, value]): readonly NamedChange[] => {
    const column = columnNamed(columns, field)
    const family = takenAs(operator, column.type)
    const operands = operandsOf(operator, column, value)
    if (family === null || operands.length === 0) return []
    return [{ change: { column: column.column, operator, family, operands }, field, by: operator }]
  })
}

function operandsOf(operator: ChangeOperatorName, column: ColumnFacts, input: Input): readonly (readonly Value[])[] {
  if (input.kind === 'absent' || input.kind === 'null') return []
  const { steps } = changeOperator(operator)
  if (steps === undefined) return [[{ slot: slotOf(input), encoding: encodingOf(column) }]]
  const items = input.kind === 'list' ? input.items : []
  return items.map((item) => {
    const members = new Map(fieldsOf(item))
    return steps.map((name) => ({ slot: slotOf(members.get(name) ?? { kind: 'null' }), encoding: stepEncodings[name] }))
  })
}

const stepEncodings: Readonly<Record<'at' | 'value', Encoding>> = {
  at: { kind: 'array', maxLength: null },
  value: { kind: 'scalar', maxLength: null },
}

/** The field of a change by key; another addition may plan the update of a row. */
export function planKeyed(planner: Planner, { kind, entity, key }: ChangeByKey, selected: SelectedField): Root {
  if (kind === 'update-rows') return planUpdateRows(planner, entity, key, selected)
  const { additions } = planner.visible
  const [other] =
    kind === 'update-row' ? additions.flatMap((one) => one.planRowUpdate?.(planner, entity, key, selected) ?? []) : []
  return other ?? planRowChange(planner, kind, entity, key, selected)
}

function planRowChange(
  planner: Planner,
  kind: RowChange['kind'],
  entity: EntityFacts,
  key: RowKey,
  selected: SelectedField,
): RowChange {
  const names = key.columns.map(({ field }) => field)
  return {
    kind,
    key: selected.key,
    entity,
    by: key.columns.map(({ column }) => column),
    values: planKey(planner, key, selected),
    unique: key.unique,
    ...planMeant(planner.visible, entity, butKey(names, planner.args(selected))),
    set: kind === 'update-row' ? planChanges(planner, entity, selected) : planMark(planner.visible, entity),
    row: planner.row(planner, entity, selected),
  }
}

/** Rows by their primary key, each with values of its own. */
function planUpdateRows(planner: Planner, entity: EntityFacts, key: RowKey, selected: SelectedField): UpdateRows {
  const args = planner.args(selected)
  const rows = args('rows')
  const items = objectsIn(rows)
  if (items.length === 0) throw badArgument('At least one record must be provided to rows')
  return {
    kind: 'update-rows',
    key: selected.key,
    entity,
    members: planResponse(planner, entity, selected),
    ...planRowSets(planner, entity, key, { items, slot: slotOf(rows), field: selected.key }),
    ...planMeant(planner.visible, entity, args),
    atMost: { slot: slotOf(args('atMost')), encoding: { kind: 'scalar', maxLength: null } },
  }
}
