import type { ColumnFacts, EntityFacts } from '../../contract/manifest.ts'
import type { RowKey } from '../../contract/lookups.ts'
import { changeable, usableOperators } from '../../engine/changes.ts'
import { byField } from '../../engine/visible.ts'
import { changeOperator, takenAs, type ChangeOperatorName } from '../../sql/change-operators.ts'
import { badArgument, refusedAt, type Refusal } from '../protocol/failures.ts'
import { butKey, planMark, planMeant } from './meant.ts'
import { objectsIn, slotOf, type Input, type ObjectInput } from './input.ts'
import { columnNamed, encodingOf, presetsOf } from './inputs.ts'
import type { Planner, SelectedField } from './planner.ts'
import type { ColumnChange, RowSets } from './column-changes.ts'
import type { RowChange, UpdateRows } from './plan-nodes.ts'
import type { Encoding, Slot, Value } from './values.ts'
import { planResponse } from './written.ts'

/** The changes of an update, and the fields of `updates` (spec/graphql.md 10.3, 17.4). */

export interface NamedChange {
  readonly change: ColumnChange
  readonly field: string
  /** The name of the argument. */
  readonly by: string
}

/** @throws Refusal if nothing is changed, or a column twice */
export const planChanges = (planner: Planner, entity: EntityFacts, selected: SelectedField): readonly ColumnChange[] =>
  withPresets(planner, entity, namedChanges(planner, entity, selected))

/** @throws Refusal if a column is changed twice */
export function namedChanges(planner: Planner, entity: EntityFacts, selected: SelectedField): readonly NamedChange[] {
  const args = planner.args(selected)
  const { visible } = planner
  const all: readonly NamedChange[] = [
    ...planSet(visible.updatable(entity), args('set')),
    ...usableOperators(visible, entity).flatMap((name) =>
      planOperator(name, changeable(visible, entity, name), args(name)),
    ),
  ]
  const first = new Map<string, NamedChange>()
  for (const named of all) {
    const before = first.get(named.change.column)
    if (before !== undefined && before.by !== named.by) throw refusedAt(selected.key, changedTwice(before, named))
    first.set(named.change.column, named)
  }
  return all
}

/** The new values of a row, beside those that the owner sets. @throws Refusal if there are none */
export function planSetOf(planner: Planner, entity: EntityFacts, input: Input): readonly ColumnChange[] {
  return withPresets(planner, entity, planSet(planner.visible.updatable(entity), input))
}

function withPresets({ visible }: Planner, entity: EntityFacts, all: readonly NamedChange[]): readonly ColumnChange[] {
  if (all.length === 0) throw nothingSet()
  return [...all.map(({ change }) => change), ...visible.presets(entity, 'update')]
}

const nothingSet = (): Refusal => badArgument('At least one mapping must be provided to set argument')

const changedTwice = ({ field, by }: NamedChange, again: NamedChange): string =>
  `The column "${field}" is changed by "${by}" and by "${again.by}".`

const unreadable = (field: string): string =>
  `The column "${field}" cannot be read, so that every one of the rows has to set it.`

function planSet(updatable: readonly ColumnFacts[], input: Input): readonly NamedChange[] {
  const fields = input.kind === 'object' ? input.fields : []
  const inputs = byField(updatable)
  return fields.map(([field, value]) => {
    const column = columnNamed(inputs, field)
    const change = { column: column.column, value: { slot: slotOf(value), encoding: encodingOf(column) } }
    return { change, field, by: 'set' }
  })
}

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

export function planRowChange(
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

export function planKey(planner: Planner, { columns }: RowKey, selected: SelectedField): readonly Value[] {
  const args = planner.args(selected)
  return columns.map(({ field }) => ({ slot: slotOf(args(field)), encoding: { kind: 'scalar', maxLength: null } }))
}

/** Rows by their primary key, each with values of its own. */
export function planUpdateRows(
  planner: Planner,
  entity: EntityFacts,
  key: RowKey,
  selected: SelectedField,
): UpdateRows {
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

/** @param rows objects with a key and a `set`, and their origin in each request */
export function planRowSets(
  planner: Planner,
  entity: EntityFacts,
  { columns: key }: RowKey,
  { items, slot, field }: { readonly items: readonly ObjectInput[]; readonly slot: Slot; readonly field: string },
): RowSets {
  const sets = items.map((item) => new Map(fieldsOf(new Map(item.fields).get('set'))))
  if (sets.some((set) => set.size === 0)) throw nothingSet()
  const inputs = byField(planner.visible.updatable(entity))
  const set = [...new Set(sets.flatMap((one) => [...one.keys()]))].map((name) => ({
    name,
    column: columnNamed(inputs, name),
    partial: sets.some((one) => !one.has(name)),
  }))
  const unread = set.find(({ column, partial }) => partial && !planner.visible.readsColumn(entity, column))
  if (unread !== undefined) throw refusedAt(field, unreadable(unread.name))
  const each = (path: readonly string[], { type, maxLength }: Pick<ColumnFacts, 'type' | 'maxLength'>): Value => ({
    slot,
    encoding: { kind: 'each', path, list: type?.list === true, maxLength },
  })
  return {
    by: key.map(({ column, field: name, type }) => ({ column, values: each([name], { type, maxLength: null }) })),
    set: set.map(({ name, column, partial }) => ({
      column: column.column,
      values: each(['set', name], column),
      given: partial ? { slot, encoding: { kind: 'each-given', path: ['set', name] } } : null,
    })),
    ...presetsOf(planner, entity, 'update'),
  }
}

const fieldsOf = (input: Input | undefined): Extract<Input, { kind: 'object' }>['fields'] =>
  input?.kind === 'object' ? input.fields : []
