import type { RowKey } from '../../contract/lookups.ts'
import type { ColumnFacts, EntityFacts } from '../../contract/manifest.ts'
import type { RoleVisibility } from '../../engine/view.ts'
import { byField } from '../../engine/visible.ts'
import { badArgument, refusedAt, type Refusal } from '../protocol/failures.ts'
import type { ColumnChange, RowSets } from './column-changes.ts'
import { slotOf, type Args, type Input, type ObjectInput } from './input.ts'
import { columnNamed, encodingOf, presetsOf } from './inputs.ts'
import type { Planner, SelectedField } from './planner.ts'
import type { Slot, Value } from './values.ts'

/** The changes of an update, and the fields of `updates` (spec/graphql.md 10.3, 17.4). */

export interface NamedChange {
  readonly change: ColumnChange
  readonly field: string
  /** The name of the argument. */
  readonly by: string
}

declare module '../../engine/additions.ts' {
  interface SchemaAddition {
    /** Changes by further arguments of an update. */
    readonly planOperators?: (visible: RoleVisibility, entity: EntityFacts, args: Args) => readonly NamedChange[]
  }
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
    ...visible.additions.flatMap((one) => one.planOperators?.(visible, entity, args) ?? []),
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

export function planKey(planner: Planner, { columns }: RowKey, selected: SelectedField): readonly Value[] {
  const args = planner.args(selected)
  return columns.map(({ field }) => ({ slot: slotOf(args(field)), encoding: { kind: 'scalar', maxLength: null } }))
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

export const fieldsOf = (input: Input | undefined): Extract<Input, { kind: 'object' }>['fields'] =>
  input?.kind === 'object' ? input.fields : []
