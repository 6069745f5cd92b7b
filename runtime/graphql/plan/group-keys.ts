import { bucketsOf, type BucketName } from '../../contract/buckets.ts'
import type { ColumnFacts, EntityFacts } from '../../contract/manifest.ts'
import { groupColumns, groupRelations } from '../../engine/related.ts'
import { badArgument } from '../protocol/failures.ts'
import { valueOf, type Input } from './input.ts'
import { keyThere } from './joins.ts'
import type { Planner } from './planner.ts'
import type { GroupKey, OrderKey } from './types.ts'
import type { Encoding, Value } from './values.ts'

/** What rows are grouped by (spec/graphql.md 17.2). */

export const groupKeyId = (path: readonly string[]): string => ['key', ...path].join('.')

export const notAKey = (path: readonly string[]): Error => badArgument(`Rows are not grouped by "${path.join('.')}"`)

type Args = (name: string) => Input

/** By id. Null stands for what is not asked, as it does for directions (spec/graphql.md 5.4). */
export function planKeys(planner: Planner, entity: EntityFacts, args: Args): ReadonlyMap<string, GroupKey> {
  const keys = new Map<string, GroupKey>()
  const widths = new Map(widthsIn(args('widths'), []).map(({ path, width }) => [groupKeyId(path), { path, width }]))
  const zone = valueIn(args('timeZone'), { kind: 'scalar', maxLength: null })
  const add = (path: readonly string[], column: ColumnFacts, of: OrderKey, bucket: BucketName): void => {
    const id = groupKeyId(path)
    if (keys.has(id)) throw badArgument(`Rows can be grouped by "${path.join('.')}" once`)
    const width = widths.get(id)?.width
    keys.set(id, { kind: 'key', of, ...stepOf(column, bucket, zone), ...(width !== undefined && { width }) })
  }
  const walk = (here: EntityFacts, given: Input, path: readonly string[], from: (key: OrderKey) => OrderKey): void => {
    if (given.kind !== 'object') return
    const [columns, relations] = [groupColumns(planner.visible, here), groupRelations(planner.visible, here)]
    for (const [name, value] of given.fields) {
      const inner = [...path, name]
      const column = columns.get(name)
      if (column !== undefined) {
        if (value.kind === 'leaf') add(inner, column, from(column.column), valueOf(value) as BucketName)
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
  for (const [id, { path }] of widths) if (!keys.has(id)) throw notAKey(path)
  return keys
}

function stepOf({ type }: ColumnFacts, bucket: BucketName, zone: Value | undefined): Pick<GroupKey, 'unit' | 'zone'> {
  const isTime = type?.kind === 'scalar' && bucketsOf(type.name).units.length > 0
  return bucket === 'VALUE' || !isTime ? {} : { unit: bucket, ...(zone !== undefined && { zone }) }
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
