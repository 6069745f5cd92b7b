import { bucketsOf, recurringTimes, type BucketName, type RecurringMember } from '../../contract/aggregates.ts'
import type { ColumnFacts, EntityFacts } from '../../contract/manifest.ts'
import { groupColumns, groupRelations } from '../../engine/related.ts'
import { badArgument } from '../protocol/failures.ts'
import { inputValue, type Input } from './input.ts'
import { keyThere } from './joins.ts'
import type { Planner } from './planner.ts'
import type { GroupKey, OrderKey } from './plan-nodes.ts'
import type { Encoding, Value } from './values.ts'

/** The keys of groups (spec/graphql.md 17.2). */

/** The members of a group that are its keys. */
export type KeyMember = 'key' | RecurringMember

export const groupKeyId = (member: KeyMember, path: readonly string[]): string => [member, ...path].join('.')

const shownKey = (member: KeyMember, path: readonly string[]): string =>
  member === 'key' ? path.join('.') : groupKeyId(member, path)

export const notAKey = (member: KeyMember, path: readonly string[]): Error =>
  badArgument(`Rows are not grouped by "${shownKey(member, path)}"`)

type Args = (name: string) => Input

/** By id. Null equals absence, as for directions (spec/graphql.md 5.4). */
export function planKeys(planner: Planner, entity: EntityFacts, args: Args): ReadonlyMap<string, GroupKey> {
  const keys = new Map<string, GroupKey>()
  const widths = new Map(
    widthsIn(args('widths'), []).map(({ path, width }) => [groupKeyId('key', path), { path, width }]),
  )
  const zone = valueIn(args('timeZone'), { kind: 'scalar', maxLength: null })
  const add = (path: readonly string[], column: ColumnFacts, of: OrderKey, bucket: BucketName): void => {
    const step = stepOf(column, bucket, zone)
    const member = step.recurring === undefined ? 'key' : recurringTimes[step.recurring].member
    const id = groupKeyId(member, path)
    if (keys.has(id)) throw badArgument(`Rows can be grouped by "${shownKey(member, path)}" once`)
    const width = widths.get(id)?.width
    keys.set(id, { kind: 'key', of, ...step, ...(width !== undefined && { width }) })
  }
  const walk = (here: EntityFacts, given: Input, path: readonly string[], from: (key: OrderKey) => OrderKey): void => {
    if (given.kind !== 'object') return
    const [columns, relations] = [groupColumns(planner.visible, here), groupRelations(planner.visible, here)]
    for (const [name, value] of given.fields) {
      const inner = [...path, name]
      const column = columns.get(name)
      if (column !== undefined) {
        if (value.kind === 'leaf') add(inner, column, from(column.column), inputValue(value) as BucketName)
        continue
      }
      const related = relations.get(name)
      if (related === undefined) continue
      planner.countRelated()
      const there = keyThere(planner, related)
      walk(related.target, value, inner, (key) => from(there(key)))
    }
  }
  const by = args('by')
  for (const item of by.kind === 'list' ? by.items : []) walk(entity, item, [], (key) => key)
  for (const [id, { path }] of widths) if (!keys.has(id)) throw notAKey('key', path)
  return keys
}

function stepOf(
  { type }: ColumnFacts,
  bucket: BucketName,
  zone: Value | undefined,
): Pick<GroupKey, 'unit' | 'recurring' | 'zone'> {
  const { units, recurring } = bucketsOf(type?.kind === 'scalar' ? type.name : null)
  const [unit, time] = [units.find((one) => one === bucket), recurring.find((one) => one === bucket)]
  if (unit === undefined && time === undefined) return {}
  return {
    ...(unit !== undefined && { unit }),
    ...(time !== undefined && { recurring: time }),
    ...(zone !== undefined && { zone }),
  }
}

const valueIn = (input: Input, encoding: Encoding): Value | undefined =>
  input.kind === 'leaf' ? { slot: input.slot, encoding } : undefined

interface Width {
  readonly path: readonly string[]
  readonly width: Value
}

function widthsIn(input: Input, path: readonly string[]): readonly Width[] {
  if (input.kind === 'object') return input.fields.flatMap(([name, value]) => widthsIn(value, [...path, name]))
  const width = valueIn(input, { kind: 'width' })
  return width === undefined ? [] : [{ path, width }]
}
