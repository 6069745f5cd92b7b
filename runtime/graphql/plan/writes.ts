import type { EntityFacts } from '../../contract/manifest.ts'
import { byField } from '../../engine/visible.ts'
import { badArgument } from '../protocol/failures.ts'
import { conflictOf } from './conflict.ts'
import { amongMeant, planMark } from './meant.ts'
import { planFilter } from './filter.ts'
import { objectsIn, slotOf, type Input, type ObjectInput } from './input.ts'
import { planChanges } from './changes.ts'
import { columnNamed, encodingOf, presetsOf } from './inputs.ts'
import type { Planner, SelectedField } from './planner.ts'
import type { Insert, InsertRows, Root } from './plan-nodes.ts'
import type { Value } from './values.ts'
import { planResponse } from './written.ts'

declare module '../../engine/additions.ts' {
  interface SchemaAddition {
    /** Another plan of an insert, of related rows too; null: the usual one. */
    readonly planInsert?: (
      planner: Planner,
      insert: Pick<Insert, 'key' | 'entity' | 'members' | 'onConflict'>,
      objects: Input,
    ) => Root | null
  }
}

/** Insert, update and delete (spec/graphql.md 10). */
export function planWrite(
  planner: Planner,
  kind: 'insert' | 'update' | 'delete',
  entity: EntityFacts,
  selected: SelectedField,
): Root {
  const args = planner.args(selected)
  const members = planResponse(planner, entity, selected)
  const change = { key: selected.key, entity, members }
  if (kind === 'insert') {
    const objects = objectsOf(args('objects'))
    const onConflict = conflictOf(planner, entity, args)
    const insert = { ...change, ...(onConflict && { onConflict }) }
    const input = args('objects')
    const [other] = planner.visible.additions.flatMap((one) => one.planInsert?.(planner, insert, input) ?? [])
    if (other !== undefined) return other
    return { kind, ...insert, rows: planRows(planner, entity, input, objects), ...presetsOf(planner, entity, 'insert') }
  }
  const filter = amongMeant(planner.visible, entity, planFilter(planner, entity, args('filter')), args)
  const atMost = { slot: slotOf(args('atMost')), encoding: { kind: 'scalar', maxLength: null } } as const
  if (kind === 'delete') {
    const set = planMark(planner.visible, entity)
    return { kind, ...change, ...(set.length > 0 && { set }), filter, atMost }
  }
  return { kind, ...change, set: planChanges(planner, entity, selected), filter, atMost }
}

function objectsOf(input: Input): readonly ObjectInput[] {
  const objects = objectsIn(input)
  if (objects.length === 0) throw badArgument('At least one record must be provided to objects')
  return objects
}

function planRows(planner: Planner, entity: EntityFacts, input: Input, objects: readonly ObjectInput[]): InsertRows {
  const names = [...new Set(objects.flatMap((object) => object.fields.map(([name]) => name)))]
  const insertable = planner.visible.insertable(entity)
  const inputs = byField(insertable)
  const columns = names.map((name) => columnNamed(inputs, name))
  const uniform = objects.length > 1 && objects.every((object) => object.fields.length === names.length)
  if (uniform && names.length > 0) {
    const members = columns.map((column, index) => ({ name: names[index] ?? '', maxLength: column.maxLength }))
    return {
      kind: 'uniform',
      columns: columns.map((column) => column.column),
      records: { slot: slotOf(input), encoding: { kind: 'records', members } },
    }
  }
  // No column is named: any writable column is used, so that all columns take their defaults.
  const used = columns.length > 0 ? columns : insertable.slice(0, 1)
  return {
    kind: 'separate',
    columns: used.map((column) => column.column),
    rows: objects.map((object) => {
      const fields = new Map(object.fields)
      return used.map((column): Value | null => {
        const value = fields.get(column.field ?? '')
        return value === undefined ? null : { slot: slotOf(value), encoding: encodingOf(column) }
      })
    }),
  }
}
