import type { Api, ApiTable, RelationField, RowWrite } from './api-types.ts'
import { apiTableOf } from './api.ts'
import { arePlain, keysOf, nests, standIn } from './nested-api.ts'
import { isSettableBy, primaryArguments } from './root-fields.ts'
import { columnNamed, hasAddition, type ColumnSketch, type World } from './world.ts'

/** The changes of related rows in an update by key (spec/graphql.md 17.6). */

export const relatedMembers = ['insert', 'connect', 'update', 'disconnect', 'delete'] as const

export type RelatedMember = (typeof relatedMembers)[number]

export interface ChangedField {
  readonly name: string
  readonly relation: RelationField
  readonly target: ApiTable
  /** The suffix of the input's type. */
  readonly type: string
  readonly members: readonly RelatedMember[]
  /** The keys by which its rows are named, by the fields of their columns. */
  readonly keys: readonly ReadonlyMap<string, ColumnSketch>[]
  /** The key by which each of many is changed. */
  readonly rowKey: ReadonlyMap<string, ColumnSketch> | null
  /** The columns that become null when the reference is removed. */
  readonly nullable: readonly string[]
}

/** The relations of the argument, in the order of their fields; empty without an argument. */
export function relatedArgument(world: World, api: Api, { table, key }: RowWrite): readonly ChangedField[] {
  return key.has('related') ? [] : changedFields(world, api, table)
}

export function changedFields(world: World, api: Api, table: ApiTable): readonly ChangedField[] {
  const { softDelete } = table.sketch
  if (softDelete !== undefined || !hasAddition(world, table.sketch, 'updates') || !nests(world, table)) return []
  return [...table.fields].flatMap(([name, field]) => {
    if (field.kind !== 'relation' || field.way !== undefined) return []
    const found = changedField(world, api, table, name, field)
    return found === null || found.members.length === 0 ? [] : [found]
  })
}

function changedField(
  world: World,
  api: Api,
  table: ApiTable,
  name: string,
  relation: RelationField,
): ChangedField | null {
  const target = apiTableOf(api, relation.target)
  if (target.sketch.softDelete !== undefined) return null
  if (!arePlain(table.sketch, relation.local) || !arePlain(target.sketch, relation.foreign)) return null
  const isForward = relation.direction === 'forward'
  const [holder, columns] = isForward ? [table, relation.local] : [target, relation.foreign]
  const isWritten = standIn(holder.updates, columns)
  if (isForward && !isWritten) return null
  if (!isForward && target.inserts.size > 0 && !standIn(target.inserts, relation.foreign)) return null
  const nullable = columns.filter(
    (one) => !columnNamed(holder.sketch, one).notNull && !holder.sketch.primaryKey.includes(one),
  )
  const isOptional = isWritten && nullable.length > 0
  const keys = keysOf(world, target)
  const primary = hasAddition(world, target.sketch, 'updates') ? primaryArguments(target) : null
  const rowKey = primary !== null && isSettableBy(target, primary) ? primary : null
  const { many } = relation
  const isNamed = keys.length > 0
  // Rows of views have no certain identity.
  const isFound = target.sketch.view === undefined
  const has: Readonly<Record<RelatedMember, boolean>> = {
    insert: target.inserts.size > 0,
    connect: isNamed && isWritten && (isForward || isFound),
    update: isFound && target.updates.size > 0 && (!many || rowKey !== null),
    disconnect: isOptional && (isForward || (isFound && (!many || isNamed))),
    delete: isFound && target.grants.delete && (!isForward || isOptional) && (!many || isNamed),
  }
  const word = isOptional ? 'Optional' : !isForward && isWritten ? 'Movable' : ''
  return {
    name,
    relation,
    target,
    type: `${word}${isForward ? 'Parent' : many ? 'Children' : 'Child'}Change`,
    members: relatedMembers.filter((member) => has[member]),
    keys,
    rowKey,
    nullable,
  }
}
